#!/usr/bin/env bash
# Checks values against float64 references, then measures this machine's GPU; prints one JSON line for each figure, also in results.jsonl.
#   ./go.sh            all
#   ./go.sh check      values only
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${WORK:-$(mktemp -d)}
results=${RESULTS:-$here/results.jsonl}
if [ ! -x "$work/bin/node" ]; then
  tar -C "$work" -xJf "$here/whetstone.tar.xz" 2>/dev/null ||
    python3 -c "import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])" "$here/whetstone.tar.xz" "$work"
fi
cd "$work" || exit 1
export PATH="$work/bin:$PATH"
ours() { timeout "${1}" node bench/gpu/measure.ts "${@:2}" | tee -a "$results"; }
peer() { timeout "${1}" python3 "$here/peers.py" "${@:2}" 2>/dev/null | tee -a "$results"; }
check() {
  WHETSTONE_TEST_DEVICE=gpu timeout 150 node --test --test-reporter=spec test/tensor/wgsl.test.ts \
    test/engine/local/{sampling,outputs,step,invariance,mix,adapters}.test.ts > "$here/check.log" 2>&1
  grep -E "^(ℹ (tests|pass|fail)|✖)" "$here/check.log" | sort -u | head -60
}
ours 60 about
check
[ "${1:-all}" = check ] && exit
ours 60 products
for p in f32 f16; do
  for size in 0.5M 25M; do ours 40 train $size $p 32; done
  ours 60 train 135M $p 8
done
for p in f32 bf16; do
  for size in 0.5M 25M; do peer 60 train $size $p 32; done
  peer 60 train 135M $p 8
done
for size in 0.5M 25M 135M; do
  for rows in 32 64; do ours 60 decode $size f32 $rows; done
done
for size in 0.5M 25M 135M; do peer 90 decode $size f32 32; done
for size in 25M 135M; do ours 60 iterate $size f16; done
echo "figures: $results"
