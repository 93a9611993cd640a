/** Adds entries to a library that other processes add to concurrently: reads, adds one, writes, and retries on a conflict. */

import { writtenBy } from "../../src/common/artefacts/origins.ts";
import { artefactVersion } from "../../src/core/artefact.ts";
import { isWhetstoneError } from "../../src/core/errors.ts";
import { readArtefactFolder, writeArtefactFolder } from "../../src/store/artefactFolder.ts";

const [folder = "", name = "", count = "0"] = process.argv.slice(2);

for (let i = 0; i < Number(count); ) {
  const { version } = await readArtefactFolder(folder);
  const { artefact } = version;
  if (artefact.kind !== "experience") throw new Error("another kind of artefact");
  const entry = {
    id: `${name}${i}`,
    kind: "strategy" as const,
    when: "",
    text: `${name}${i}`,
    score: 0,
    shown: 0,
    origins: writtenBy(name),
  };
  const next = artefactVersion({
    name: "lessons",
    artefact: { kind: "experience", entries: [...artefact.entries, entry] },
    parents: [version.id],
    why: "one more",
    origins: writtenBy(name),
    created: 1,
  });
  try {
    await writeArtefactFolder(folder, next, { over: version.id });
    i++;
  } catch (e) {
    if (!isWhetstoneError(e) || e.code !== "store.refused") throw e;
  }
}
