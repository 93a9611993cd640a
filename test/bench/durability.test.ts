import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, judged } from "../../bench/durability/syncs.ts";

test("a trace is read, calls that were cut in two by other threads included", () => {
  const trace = [
    "7 100.000000 fdatasync(5</x/s-wal>) = 0 <0.250000>",
    "7 100.500000 fsync(5</x/s-wal> <unfinished ...>",
    '8 100.600000 write(1<pipe:[9]>, "{\\"signal\\":\\"a\\"}\\n", 15) = 15 <0.000010>',
    "7 100.700000 <... fsync resumed>)  = 0 <0.200000>",
    "7 100.800000 fdatasync(5</x/s-wal>) = -1 EIO (Input/output error) <0.1>",
    "8 100.900000 +++ exited with 0 +++",
  ].join("\n");
  assert.deepEqual(
    eventsOf(trace).map(({ call, path, start, end }) => [call, path, start, end]),
    [
      ["fdatasync", "5</x/s-wal>", 100, 100.25],
      ["fsync", "5</x/s-wal>", 100.5, 100.7],
      ["write", "1<pipe:[9]>", 100.6, 100.60001],
    ],
  );
});

test("a burst that was acknowledged with no flush since the one before is found", () => {
  // two bursts of two: the first after a flush at 1, the second at 4 and 5 with its flush at 4.5, too late
  assert.equal(judged([2, 3, 4, 5], [1, 4.5], 2, 2).bare, 1);
  assert.equal(judged([2, 3, 4, 5], [1, 3.5], 2, 2).bare, 0);
  assert.equal(judged([2, 3], [1, 3.5], 2, 2).bare, 1);
});
