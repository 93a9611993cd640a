/** What a run's learner wrote is told when the run is measured; or another version, or nothing. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { z } from "zod";
import { configuredChatEngine } from "../../src/cli/chatOptions.ts";
import { writtenBy } from "../../src/common/artefacts/origins.ts";
import { artefactVersion } from "../../src/core/artefact.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { method } from "../../src/method/method.ts";
import { multiTurn } from "../../src/rollout/multiTurn.ts";
import { writeArtefactFolder } from "../../src/store/artefactFolder.ts";
import { findCheckpoint } from "../../src/train/checkpoint.ts";
import { train } from "../../src/train/run.ts";
import { keyDoor } from "../../src/worlds/keyDoor.ts";
import { chatServer } from "./chatServer.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-eval-told-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const store = join(folder, "whetstone.sqlite");
const cache = join(folder, "cache");

/** A model behind an API that opens the door once it is told how, and waves until then. Counts what it is asked. */
async function provider() {
  let asked = 0;
  const bodyShape = z.object({ messages: z.array(z.object({ content: z.string() })) });
  const url = await chatServer((body) => {
    asked++;
    const { messages } = bodyShape.parse(body);
    const knows = messages.some(({ content }) => content.includes("Take the key first."));
    return knows ? byTheBook(messages.at(-1)?.content ?? "") : "wave";
  });
  return { url, asked: () => asked };
}

function byTheBook(seen: string): string {
  if (seen === "cell 0 key no") return "pick";
  if (seen.endsWith("no")) return "left";
  return seen.startsWith("cell 3") ? "open" : "right";
}

/** Tells nothing of use at first, and what helps from its second iteration on. */
const teacher = method({
  id: "teacher",
  family: "memory",
  summary: "tells what helps",
  weightFree: true,
  says: ["Be kind.", "Take the key first."],
  slots: {
    annotate: [],
    credit: [],
    advantage: [],
    objective: [],
    rollout: multiTurn({ groupSize: 1 }),
    update: async (ctx) => {
      const system = ctx.clock.iteration === 0 ? "Be kind." : "Take the key first.";
      const before = ctx.artefacts.current();
      const origins = writtenBy("reflection");
      const made = ctx.artefacts.propose({
        name: "told",
        artefact: { kind: "instructions", system, tools: {}, examples: [], origins },
        parents: before ? [before.id] : [],
        why: `iteration ${ctx.clock.iteration}`,
        origins,
      });
      if ("id" in made) ctx.artefacts.adopt(made.id);
      return { steps: 0 };
    },
  },
});

const run = (out: string, engine: Engine, parts = {}) =>
  train(
    {
      environment: keyDoor(),
      method: teacher.build({ tasks: 1 }),
      engine,
      iterations: 2,
      out: join(folder, out),
      store,
      checkpointSeconds: 0,
      warmStart: false,
      evaluation: { tasks: 1 },
      parts,
    },
    () => {},
    new AbortController().signal,
  );

const reportShape = z.object({
  artefact: z.object({ id: z.string(), name: z.string(), kind: z.string() }).nullable(),
  success: z.object({ mean: z.number() }),
});
/** The runs' environment is none of those that have a name. */
const world = join(folder, "world.ts");
const url = new URL("../../src/worlds/keyDoor.ts", import.meta.url).href;
writeFileSync(world, `import { keyDoor } from ${JSON.stringify(url)};\nexport default keyDoor();\n`);
const inWorld = ["--env", world];

async function evaluated(...args: string[]) {
  const named = args.includes("--env") ? [] : inWorld;
  const limits = [...named, "--tasks", "1", "--store", store, "--cache", cache, "--json"];
  const { out, err, code } = await inProcess(["eval", ...args, ...limits]);
  assert.equal(code, 0, err);
  return { ...reportShape.parse(JSON.parse(out)), err };
}

test("a run behind an API is measured with its model, and told what it wrote, a named version, a file, or nothing", async () => {
  const { url, asked } = await provider();
  const engine = await configuredChatEngine({ url, model: "tiny", cache }, () => {});
  await run("talks", engine, { url, model: "tiny" });
  const told = await evaluated(join(folder, "talks"));
  assert.deepEqual([told.success.mean, told.artefact?.name], [1, "told"]);
  const untold = await evaluated("talks", "--artefact", "none");
  assert.deepEqual([untold.success.mean, untold.artefact], [0, null]);

  const last = await findCheckpoint(join(folder, "talks"));
  const checkpoint = await evaluated(last?.folder ?? "");
  assert.deepEqual(checkpoint.artefact, told.artefact);

  // what it was told at first is still in the store
  const { out } = await inProcess(["artefacts", "show", told.artefact?.id ?? "", "--store", store, "--json"]);
  const [first = ""] = z.object({ parents: z.array(z.string()) }).parse(JSON.parse(out)).parents;
  const named = await evaluated("talks", "--artefact", first);
  assert.deepEqual([named.artefact?.id, named.success.mean], [first, 0]);

  // the same once more asks nobody
  const before = asked();
  const again = await evaluated("talks");
  assert.deepEqual([again.success, asked()], [told.success, before]);
  assert.match(again.err, /^0 calls/);

  // another model takes what was written, without the run or in place of its weights
  writeFileSync(join(folder, "advice.md"), "Take the key first.\n");
  const chat = ["--chat", url, "--model", "other"];
  const advised = await evaluated(...chat, ...inWorld, "--artefact", join(folder, "advice.md"));
  assert.deepEqual([advised.artefact?.name, advised.success.mean], ["advice", 1]);
  assert.equal((await evaluated(...chat, ...inWorld)).success.mean, 0);
  assert.equal((await evaluated("talks", ...chat)).success.mean, 1);

  // what somebody edited in the run's folder is what it tells now
  const system = join(folder, "talks", "artefact", "system.md");
  writeFileSync(system, readFileSync(system, "utf8").replace("Take the key first.", "Hurry."));
  const edited = await evaluated("talks");
  assert.deepEqual([edited.success.mean, edited.artefact?.id === told.artefact?.id], [0, false]);
});

test("a run with weights says what it was told, also in words; suites take it as well; a guide needs a gateway", async () => {
  const engine = tabularEngine();
  const done = await run("table", engine);
  await engine.dispose();
  const weights = await evaluated("table", "--greedy");
  assert.equal(weights.artefact?.name, "told");
  const words = await inProcess(["eval", "table", ...inWorld, "--tasks", "2", "--store", store]);
  assert.match(
    words.out,
    new RegExp(`^Artefact: told ${weights.artefact?.id}, instruction set \\(iteration 1\\)`, "m"),
  );
  const none = await inProcess([
    "eval",
    "table",
    ...inWorld,
    "--tasks",
    "2",
    "--artefact",
    "none",
    "--store",
    store,
  ]);
  assert.match(none.out, /^Artefact: none\.$/m);

  const guide = join(folder, "guide");
  await writeArtefactFolder(
    guide,
    artefactVersion({
      name: "hints",
      artefact: { kind: "guide", policy: done.out, frame: "Hint: {hint}" },
      parents: [],
      why: "trained",
      origins: writtenBy("person"),
      created: 1,
    }),
  );
  const refused = await inProcess(["eval", "table", ...inWorld, "--artefact", guide, "--store", store]);
  assert.deepEqual([refused.code, /a guide, whose hints.*--chat/.test(refused.err)], [2, true]);
  const unknown = await inProcess(["eval", "table", ...inWorld, "--artefact", "tolt", "--store", store]);
  assert.deepEqual([unknown.code, /Did you mean told\?/.test(unknown.err)], [2, true]);
  const player = ["eval", "--suite", "multiturninstruct", "--player", "expert", "--artefact", "none"];
  assert.match((await inProcess(player)).err, /--artefact: got none for a scripted player/);
});
