import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { served, signal } from "../store/served.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-artefacts-cli-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (...parts: string[]): string => join(folder, ...parts);
const run = (...args: string[]) => inProcess([...args, "--store", at("store.sqlite")]);

test("a prompt's way: brought in, edited by hand, compared, and told to a version that answers", async () => {
  writeFileSync(at("support.md"), "You help with trains.\nAsk for the date first.\n");
  assert.equal(
    (await run("versions", "add", "--upstream", "http://127.0.0.1:9001/v1", "--model", "base")).code,
    0,
  );
  const added = await run("versions", "add", "--instructions", at("support.md"), "--json");
  assert.equal(added.code, 0, added.err);
  const { id, backend } = JSON.parse(added.out);
  assert.match(id, /^support-on-base-[0-9a-f]{8}$/);
  assert.equal(backend.kind, "artefact");

  assert.equal((await run("artefacts", "export", "support", at("support"))).code, 0);
  const file = at("support", "system.md");
  writeFileSync(file, readFileSync(file, "utf8").replace("date", "date and class"));
  // nobody's work is written over
  const over = await run("artefacts", "export", "support", at("support"));
  assert.deepEqual([over.code, /Import them first/.test(over.err)], [1, true]);
  const edited = JSON.parse(
    (await run("artefacts", "import", at("support"), "--why", "class too", "--json")).out,
  );
  assert.deepEqual([edited.parents, edited.why], [[backend.artefact], "class too"]);
  assert.match(
    (await run("artefacts", "import", at("support"))).out,
    /versions add --artefact [0-9a-f]+ --over/,
  );
  // once more: the same version, and the folder is what the store knows
  const again = await run("artefacts", "import", at("support"), "--name", "another");
  assert.match(again.out, /^support [0-9a-f]{16} is already in the store under this name/);
  const { out } = await run("artefacts", "diff", edited.id.slice(0, 6));
  assert.match(out, /^- Ask for the date first\.$/m);
  assert.match(out, /^\+ Ask for the date and class first\.$/m);
  assert.match(
    (await run("artefacts", "list")).out,
    new RegExp(`${edited.id}.*${backend.artefact.slice(0, 8)}.*class too`),
  );
  const shown = (await run("artefacts", "show", "support")).out;
  assert.match(
    shown,
    new RegExp(`made by: .*made from version: ${backend.artefact}.*You help with trains`, "s"),
  );
  assert.match(
    (await run("artefacts", "show", backend.artefact)).out,
    new RegExp(`led to version: ${edited.id}`),
  );
  assert.match(
    (await run("versions", "add", "--artefact", "support", "--over", "base")).out,
    /Added: support-on-base/,
  );
  assert.match((await run("versions", "list")).out, /base-\w+, told [0-9a-f]{16}/);
});

test("what is missing or too much is said", async () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["artefacts", "show", "suport"], /Did you mean support\?/],
    [["artefacts", "import", at("none.md")], /does not exist/],
    [["versions", "add", "--over", "base"], /got no artefact, expected one artefact/],
    [
      ["versions", "add", "--artefact", "support", "--upstream", "http://127.0.0.1:1/v1"],
      /--artefact and --upstream/,
    ],
    [["versions", "add", "--artefact", "support", "--over", "base", "--guide", "base"], /no guide/],
    [["versions", "add", "--artefact", "support"], /--over: got nobody/],
    [["versions", "add", "--frame", "Hint: {hint}"], /--frame: got no artefact/],
    [["versions", "add", "--artefact", "support", "--frame", "{hint}"], /which has a frame of its own/],
    [["versions", "add", "--guide", "nobody", "--over", "base"], /nobody/],
    [["serve", "--frame", "{hint}"], /--frame: got "\{hint\}" without a guide/],
    [["serve", "--openenv", "facts", "--guide", "base"], /both --openenv and --guide/],
  ];
  for (const [args, message] of wrong) {
    const { code, err } = await run(...args);
    assert.equal(code, 2, err);
    assert.match(err, message);
  }
});

test("what people corrected becomes lessons and examples, once, and goes when it is asked to go", async () => {
  const production = await openTrafficStore(at("store.sqlite"));
  const correction = signal("c", {
    kind: "correction",
    text: "Of course, on which day?",
    user: "ann",
    about: [{ response: "response-talk-0" }],
  });
  await production.write([
    { kind: "response", response: served("talk", 0, { user: "ann" }) },
    { kind: "signal", signal: correction },
  ]);
  await production.close();
  const learn = (as: string) => run("artefacts", "learn", "--as", as, "--name", `learnt-${as}`);
  assert.match((await learn("lessons")).out, /1 new lessons, from 1 signals/);
  assert.match((await learn("lessons")).out, /Nothing new/);
  assert.match((await learn("examples")).out, /1 new examples/);
  assert.match((await run("artefacts", "show", "learnt-lessons")).out, /write "Of course, on which day\?"/);
  assert.match(
    (await run("artefacts", "learn", "--name", "learnt-examples")).err,
    /instruction set.*other value of --as/,
  );
  const forgotten = await run("forget", "--user", "ann", "--yes");
  assert.equal(forgotten.code, 0, forgotten.err);
  assert.match(forgotten.out, /4 parts of versions of artefacts/);
  assert.doesNotMatch((await run("artefacts", "show", "learnt-lessons")).out, /Of course/);
});
