import assert from "node:assert/strict";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { readRecords } from "../../src/exchange/import/records.ts";
import { withCode } from "../train/world.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "whetstone-records-"));
});
after(() => rm(folder, { recursive: true, force: true }));

/** What the file holds, whatever way its text is cut into chunks on the way in. */
async function read(text: string): Promise<readonly unknown[]> {
  const file = join(folder, "file");
  await writeFile(file, text);
  return (await Array.fromAsync(readRecords(file))).map(({ value }) => value);
}

test("CSV: cells come out as they went in, however long, quoted or broken over lines", async () => {
  const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
  const written = (cell: string): string => (/[",\r\n]/.test(cell) || cell === "" ? quoted(cell) : cell);
  const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "é", "🙂", " "), maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, cell), { maxLength: 5 }), async (rows) => {
      const text = ["x,y", ...rows.map((row) => row.map(written).join(","))].join("\n");
      assert.deepEqual(
        await read(text),
        rows.map(([x, y]) => ({ x, y })),
      );
    }),
    { seed: 1, numRuns: 150 },
  );
  // a quote, and the second of two, on either side of where the file is read in pieces of 64 KiB
  for (let before = 65_520; before < 65_540; before++) {
    const long = `${"a".repeat(before)}"b","c"`;
    assert.deepEqual(await read(`x,y\n${quoted(long)},d\r\n`), [{ x: long, y: "d" }]);
  }
});

test("one record of a gigabyte is refused by its line, and not gathered", async () => {
  const piece = "a".repeat(2 ** 20);
  for (const [name, begin] of [
    ["jsonl", '{"a":1}\n{"messages":"'],
    ["csv", 'a,b\n1,2\n3,"'],
    ["bare", "a,b\n1,2\n3,"],
  ] as const) {
    const file = join(folder, name);
    const handle = await open(file, "w");
    await handle.write(begin);
    for (let mib = 0; mib < 70; mib++) await handle.write(piece);
    await handle.close();
    const line = name === "jsonl" ? 2 : 3;
    await assert.rejects(
      Array.fromAsync(readRecords(file)),
      withCode("import.invalid", new RegExp(`line ${line}: got a record of more than 67108864 characters`)),
    );
  }
});
