/** The model of a server that was told none: made once, and whole. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { openBase, tinyBase } from "../../../src/serve/tinker/bases.ts";
import { temporary } from "../../temporary.ts";
import { intercept, noSpace } from "../../train/faults.ts";

const folder = mkdtempSync(join(temporary, "whetstone-bases-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("the tiny model: a disk that is full while it is made leaves none that looks whole", async () => {
  for (const n of [1, 3, 5]) {
    let writes = 0;
    const restore = intercept((call) => {
      if (++writes === n) throw noSpace(call);
    });
    try {
      await assert.rejects(tinyBase(folder), /ENOSPC/, `write ${n}`);
    } finally {
      restore();
    }
  }
  const made = await tinyBase(folder);
  assert.equal((await openBase(made, { threads: 1 })).name, "tiny");
  assert.equal(await tinyBase(folder), made);
});
