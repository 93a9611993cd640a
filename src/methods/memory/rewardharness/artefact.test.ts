import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { RubricLibrary } from "../../../core/rubrics.ts";
import type { Snapshot } from "../../../memory/rubrics/evolve.ts";
import { readArtefactFolder, writeArtefactFolder } from "../../../store/artefactFolder.ts";
import { rubricArtefact, rubricVersions } from "./artefact.ts";

const library: RubricLibrary = {
  rubrics: [
    { id: "short", kind: "skill", text: "Short replies are better.\n\n## Not too short\n\\## though" },
    { id: "kind", kind: "skill", text: "Kind replies are better." },
    { id: "count", kind: "tool", text: "Count the words." },
  ],
};

test("rubricArtefact: comes back from a folder that people read", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rubrics-"));
  try {
    const [version] = rubricVersions(evolutionOf(library), "judge", 1);
    await writeArtefactFolder(join(folder, "judge"), version!);
    const { version: read, edited } = await readArtefactFolder(join(folder, "judge"));
    assert.equal(edited, false);
    assert.equal(read.id, version!.id);
    assert.deepEqual(read.artefact, rubricArtefact(library));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("rubricVersions: each is made from the one before; what comes back is the version that it was", () => {
  const other: RubricLibrary = { rubrics: library.rubrics.slice(1) };
  const versions = rubricVersions(evolutionOf(library, other, library, { rubrics: [] }), "judge", 7);
  const [first, second, third] = versions;
  assert.equal(versions.length, 3);
  assert.deepEqual(first!.parents, []);
  assert.deepEqual(second!.parents, [first!.id]);
  assert.deepEqual(third!.parents, [first!.id], "made from the library that had come back");
  assert.equal(first!.why, "edit 0: right on 50.0 % of the held-out pairs; the judge goes by it");
  assert.equal(second!.why, "edit 1: right on 50.0 % of the held-out pairs");
  assert.equal(second!.created, 7);
});

function evolutionOf(...libraries: readonly RubricLibrary[]) {
  const versions = libraries.map((one, i): Snapshot => ({ library: one, accuracy: 0.5, why: `edit ${i}` }));
  return { current: versions[0]!, best: versions[0]!, versions, iteration: 0 };
}
