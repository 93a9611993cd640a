#!/usr/bin/env bash
# Checks values against float64 references, then measures this machine's GPU; prints one JSON line for each figure, also in results.jsonl.
#   ./go.sh            all, in at most 9 minutes (LIMIT=SECONDS for more or less); what there was no time for is named
#   ./go.sh check      values only, those of whole models too; its status says whether they are right
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${WORK:-$(mktemp -d)}
results=${RESULTS:-$here/results.jsonl}
limit=${LIMIT:-530}
if [ ! -x "$work/bin/node" ]; then
  tar -C "$work" -xJf "$here/whetstone.tar.xz" 2>/dev/null ||
    python3 -c "import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])" "$here/whetstone.tar.xz" "$work"
fi
cd "$work" || exit 1
export PATH="$work/bin:$PATH"
# so many seconds, or what is left of the whole time
at_most() { echo $(($1 < limit - SECONDS ? $1 : limit - SECONDS)); }
# within SECONDS COMMAND...: ends it then, or when the whole time is over; a line says so, or why it failed
within() {
  local most rc=0 begun=$SECONDS
  most=$(at_most "$1")
  shift
  if ((most < 3)); then
    echo "{\"leftOut\":\"${*:2}\"}"
    return
  fi
  timeout -k 3 "$most" "$@" 2>"$work/said" || rc=$?
  if ((rc == 124 || (rc == 137 && SECONDS - begun >= most))); then
    echo "{\"tooSlow\":\"${*:2}\",\"seconds\":$most}"
  elif ((rc != 0)); then
    local said
    said=$(grep -E '^[A-Za-z. ]*Error' "$work/said" | tail -n 1 | LC_ALL=C tr -cd '\040\041\043-\133\135-\176' | cut -c1-300)
    echo "{\"failed\":\"${*:2}\",\"said\":\"${said:-status $rc}\"}"
  fi
}
ours() { within "$1" node bench/gpu/measure.ts "${@:2}" | tee -a "$results"; }
python() { within "$1" python3 "$here/peers.py" "${@:2}" | tee -a "$results"; }
npm_peer() { [ ! -f bench/gpu/peers/train.mjs ] || within "$1" node bench/gpu/peers/train.mjs "${@:2}" | tee -a "$results"; }
# within SECONDS FILE...: tests; their status
check() {
  local most rc=0
  most=$(at_most "$1")
  if ((most < 3)); then
    echo "no time was left for the tests"
    return 124
  fi
  WHETSTONE_TEST_DEVICE=gpu timeout -k 3 "$most" node --test --test-reporter=spec test/tensor/wgsl.test.ts "${@:2}" > "$here/check.log" 2>&1 || rc=$?
  grep -E "^(ℹ (tests|pass|fail)|✖)" "$here/check.log" | sort -u | head -60
  ((rc != 124)) || echo "the tests were ended after $most seconds; as far as they came: $here/check.log"
  return $rc
}
ours 60 about
if [ "${1:-all}" = check ]; then
  check "$limit" test/engine/local/{gpu,memoryPlan,parity,parityAdapters,sampling,outputs,step,invariance,mix,adapters}.test.ts
  exit
fi
check 150 test/engine/local/{sampling,outputs,step,invariance,mix,adapters}.test.ts
training='135M f16 32 bf16
135M f16 8 bf16
135M f32 8 f32
25M f16 32 bf16
25M f32 32 f32
0.5M f32 32 f32
360M f16 8 bf16'
iterations='25M 135M' peers='0.5M 25M' rows=32 decoding='0.5M 25M 135M' precision=f16 memory=0.5M
# to try the script on a software adapter
[ "${WHETSTONE_SOFTWARE_GPU:-}" = 1 ] &&
  training='tiny f32 2 f32' iterations=tiny peers=tiny rows=2 decoding=tiny precision=f32 memory=tiny
ours 60 products
# each row right before that of PyTorch
while read -r size products batch theirs; do
  ours 60 train "$size" "$products" "$batch"
  python 60 train "$size" "$theirs" "$batch"
done <<< "$training"
for size in $iterations; do
  ours 60 iterate "$size" $precision
  python 90 iterate "$size" bf16 # TRL
done
for size in $peers; do
  for peer in jax-js tfjs webgpu-llm; do npm_peer 60 $peer "$size" $rows; done
done
for size in $decoding; do
  for batch in 32 64; do
    ours 60 decode "$size" f32 $batch
    python 90 decode "$size" bf16 $batch
  done
done
ours 60 memory $memory
echo "figures: $results"
