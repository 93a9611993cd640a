import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { joinedOrigins, writtenBy } from "../../src/common/artefacts/origins.ts";
import {
  type ArtefactVersion,
  artefactVersion,
  type InstructionSet,
  type LibraryEntry,
  type Origins,
} from "../../src/core/artefact.ts";
import { packVector } from "../../src/core/encoder.ts";
import { writeArtefactFolder } from "../../src/store/artefactFolder.ts";
import { openEntryStore } from "../../src/store/entryStore.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { withCode } from "../train/world.ts";
import { folder, onEach } from "./each.ts";
import { served, signal } from "./served.ts";

const from = (user: string, session: string): Origins => ({
  by: "reflection",
  from: {
    sessions: [session],
    users: [user],
    responses: [`response-${session}-0`],
    signals: [`said-by-${user}`],
  },
  trajectories: [],
});
const entry = (id: string, origins: Origins): LibraryEntry => ({
  id,
  kind: "strategy",
  when: "",
  text: `what ${id} said`,
  score: 0,
  shown: 0,
  origins,
});
const library = (why: string, parents: readonly string[], ...entries: LibraryEntry[]): ArtefactVersion =>
  artefactVersion({
    name: "support",
    artefact: { kind: "experience", entries },
    parents,
    why,
    origins: joinedOrigins(
      "reflection",
      entries.map(({ origins }) => origins),
    ),
    created: 1,
  });

onEach(
  "versions of artefacts are kept with what they came from, why, and how well they did",
  async (where) => {
    const store = await openTrafficStore(where);
    const first = library("the first", [], entry("a", writtenBy("person")));
    const second = library(
      "one more",
      [first.id],
      entry("a", writtenBy("person")),
      entry("b", writtenBy("person")),
    );
    assert.equal(await store.artefacts.add(first), true);
    assert.equal(await store.artefacts.add(second), true);
    // the same content again is the version that is known
    assert.equal(await store.artefacts.add({ ...first, why: "again" }), false);
    assert.deepEqual(await store.artefacts.get(second.id), second);
    assert.equal(await store.artefacts.get("none"), undefined);
    assert.deepEqual(
      (await store.artefacts.list()).map(({ id, kind, parts, parents, why }) => [
        id,
        kind,
        parts,
        parents,
        why,
      ]),
      [
        [first.id, "experience", 1, [], "the first"],
        [second.id, "experience", 2, [first.id], "one more"],
      ],
    );
    const measure = {
      id: "m",
      artefact: second.id,
      where: "facts/test",
      success: { mean: 0.5, low: 0.4, high: 0.6, n: 100 },
      at: 2,
    };
    await store.artefacts.measure(measure);
    assert.deepEqual(await store.artefacts.measures(), [measure]);
    await store.close();
  },
);

onEach(
  "what was made from an erased user's data goes from every version and folder, and comes back no more",
  async (where) => {
    const store = await openTrafficStore(where);
    for (const user of ["ann", "bob"]) {
      const session = `session-of-${user}`;
      await store.write([
        { kind: "response", response: served(session, 0, { user }) },
        { kind: "signal", signal: signal(`said-by-${user}`, { user, about: [{ session }] }) },
      ]);
    }
    const [anns, bobs] = [from("ann", "session-of-ann"), from("bob", "session-of-bob")];
    const both = library("from what people said", [], entry("anns", anns), entry("bobs", bobs));
    const instructions: InstructionSet = {
      kind: "instructions",
      system: "As Ann wants it.",
      tools: {},
      examples: [{ id: "bobs", messages: [], origins: bobs }],
      origins: anns,
    };
    const told = artefactVersion({
      name: "told",
      artefact: instructions,
      parents: [],
      why: "Ann said so",
      origins: anns,
      created: 1,
    });
    await store.artefacts.add(both);
    await store.artefacts.add(told);
    const written = join(folder, `written-${both.id}-${where.length}`);
    await writeArtefactFolder(written, both);
    await store.artefacts.addFolder(written);

    const receipt = await store.erase({ user: "ann" });
    assert.deepEqual(receipt.found, { rows: 0, bytes: 0, exports: 0 });
    assert.ok(
      receipt.unseen.some((place) => place.includes("runs that were trained on it")),
      "what is out of reach is said",
    );
    assert.deepEqual(
      new Map(receipt.artefacts.map((one) => [one.folder, one.partsRemoved])),
      // of the folder her lesson and the reasons, in the tables those, her instructions, and the reasons for these
      new Map([
        [written, 2],
        ["", 4],
      ]),
    );
    const left = (await store.artefacts.get(both.id))?.artefact;
    assert.ok(left?.kind === "experience");
    assert.deepEqual(
      left.entries.map(({ id }) => id),
      ["bobs"],
    );
    const silent = await store.artefacts.get(told.id);
    assert.ok(silent?.artefact.kind === "instructions");
    assert.deepEqual(
      [silent.artefact.system, silent.artefact.examples.length, silent.why, silent.erased],
      ["", 1, "its sources were erased", 2],
    );
    for (const name of ["lessons.md", "about.json", "artefact.json"]) {
      assert.ok(!/ann/.test(readFileSync(join(written, name), "utf8")), name);
    }
    assert.ok(existsSync(written));
    // made before, from what is gone now
    await assert.rejects(
      store.artefacts.add(library("late", [], entry("late", anns))),
      withCode("store.erased"),
    );
    await store.close();
  },
);

onEach(
  "an erasure that could not reach a folder takes all that was made from what is gone when it is asked for again",
  async (where) => {
    const store = await openTrafficStore(where);
    const shelf = await openEntryStore(where);
    await store.write([{ kind: "response", response: served("session-of-ann", 0, { at: 1000 }) }]);
    const { from: made } = from("ann", "session-of-ann");
    const anns: Origins = { by: "reflection", from: { ...made, users: [], signals: [] }, trajectories: [] };
    const known = library("from what Ann said", [], entry("anns", anns), entry("ours", writtenBy("person")));
    await store.artefacts.add(known);
    await shelf.put("one", [
      { id: "anns", text: "hers", from: anns.from, vector: packVector([1]), encoder: "one" },
    ]);
    const written = join(folder, `edited-${known.id}-${where.length}`);
    await writeArtefactFolder(written, known);
    await store.artefacts.addFolder(written);
    const [file, whole] = [join(written, "lessons.md"), readFileSync(join(written, "lessons.md"), "utf8")];
    // somebody is in the middle of editing it
    writeFileSync(file, `no heading\n\n${whole}`);
    await assert.rejects(store.erase({ before: 2000 }), withCode("import.invalid"));
    writeFileSync(file, whole);
    const receipt = await store.erase({ before: 2000 });
    assert.deepEqual([receipt.responses, receipt.entries], [0, 1]);
    assert.deepEqual(receipt.found, { rows: 0, bytes: 0, exports: 0 });
    const left = (await store.artefacts.get(known.id))?.artefact;
    assert.ok(left?.kind === "experience");
    assert.deepEqual(
      left.entries.map(({ id }) => id),
      ["ours"],
    );
    assert.ok(!readFileSync(file, "utf8").includes("anns"));
    await shelf.close();
    await store.close();
  },
);

onEach("versions that several add at once are all there, in some order", async (where) => {
  const stores = await Promise.all([openTrafficStore(where), openTrafficStore(where)]);
  const versions = Array.from({ length: 12 }, (_, i) =>
    library(`the ${i}th`, [], entry(`e${i}`, writtenBy("person"))),
  );
  await Promise.all(versions.map((version, i) => stores[i % 2]!.artefacts.add(version)));
  const kept = await stores[0]!.artefacts.list();
  assert.deepEqual(new Set(kept.map(({ id }) => id)), new Set(versions.map(({ id }) => id)));
  for (const store of stores) await store.close();
});
