#!/bin/sh
# Makes bench/peers/.venv, the Python that the peers run in. Needs Python 3.11 or later and some 2 GB of disk.
set -eu
cd "$(dirname "$0")"
"${PYTHON:-python3}" -m venv .venv
.venv/bin/pip install --quiet --requirement requirements.txt
.venv/bin/python -c "import peft, torch, transformers, trl; print('torch', torch.__version__, 'transformers', transformers.__version__)"
