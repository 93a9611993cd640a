#!/bin/sh
# Makes Python environments with other people's servers of the Tinker API, as they are published: FOLDER/skyrl and
# FOLDER/tuft. Needs Python 3.12 and some 15 GB of disk: TuFT brings vLLM and CUDA along.
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
"$folder/skyrl/bin/pip" list 2>/dev/null | grep -E '^(skyrl|tinker|jax|flax|transformers) '
"$folder/tuft/bin/pip" list 2>/dev/null | grep -E '^(tuft|tinker|torch|transformers|vllm|ray) '
