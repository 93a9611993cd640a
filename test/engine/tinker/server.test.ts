/** The engine against our own server, on this machine. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { create } from "tar";
import { withWeights } from "../../../src/cli/tinker.ts";
import type { Model } from "../../../src/core/model.ts";
import type { Objective } from "../../../src/core/objective.ts";
import { randomStream } from "../../../src/core/random.ts";
import { readCheckpoint } from "../../../src/engine/local/checkpoint.ts";
import { chatCodec } from "../../../src/engine/local/codec.ts";
import { exportAdapter, exportWeights } from "../../../src/engine/local/export.ts";
import { localEngine } from "../../../src/engine/local/index.ts";
import { byteTokenizer } from "../../../src/engine/local/tokenizer.ts";
import { downloadWeights } from "../../../src/engine/tinker/download.ts";
import { tinkerEngine } from "../../../src/engine/tinker/index.ts";
import { heldBy } from "../../../src/engine/tinker/serverCheckpoints.ts";
import { bound } from "../../../src/http/bound.ts";
import { grpo } from "../../../src/methods/baseline/grpo/method.ts";
import { openBase } from "../../../src/serve/tinker/bases.ts";
import { tinkerServer } from "../../../src/serve/tinker/server.ts";
import { echo, runIn, withCode } from "../../train/world.ts";
import { batchOf, coefficientsFor, linear, near } from "../local/support.ts";

const root = mkdtempSync(join(tmpdir(), "whetstone-tinker-"));
const codec = chatCodec(byteTokenizer());

async function startServer() {
  const engine = localEngine({
    tokenizer: "bytes",
    size: { width: 32, layers: 1, heads: 2, kvHeads: 2, feedForward: 32 },
    threads: 1,
  });
  const tiny = join(root, "tiny");
  mkdirSync(tiny);
  await (await engine.create({ id: "tiny", seed: 1, vocabulary: [], contextTokens: 128 })).save(tiny);
  await engine.dispose();
  const base = await openBase(tiny, { threads: 1 });
  return await tinkerServer({ bases: [base], folder: join(root, "server"), key: "tml-secret" });
}
const server = await startServer();
const onServer = { url: server.url, baseModel: "tiny", codec, key: "tml-secret", rank: 4, probe: false };
const engine = tinkerEngine(onServer);
const local = localEngine({ threads: 1 });
after(async () => {
  await engine.dispose();
  await local.dispose();
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

const folder = (name: string): string => {
  const at = join(root, name);
  mkdirSync(at);
  return at;
};
/** Where the server keeps what a folder of the engine names. */
function keptAt(at: string): string {
  const { path } = JSON.parse(readFileSync(join(at, "tinker.json"), "utf8"));
  const [, id = "", file = ""] = /^tinker:\/\/(.+)\/weights\/(.+)$/.exec(path) ?? [];
  return join(root, "server", "models", id.replaceAll(":", "_"), "weights", file);
}
const batch = batchOf([
  { tokens: [5, 60, 61, 62, 2], targets: [2, 3, 4] },
  { tokens: [5, 70, 2, 6, 71], targets: [1, 4] },
]);
/** Constant cotangents, of both signs. */
const objective = linear(coefficientsFor(batch, "tinker", false));
const logpOf = async (model: Model): Promise<Float32Array> => (await model.score(batch)).logp;

test("a step has the same effect here and there, twenty of them nearly", async () => {
  const remote = await engine.create({ id: "policy", seed: 3, vocabulary: [], contextTokens: 64 });
  const learn = async (model: Model, epsilon: number, learningRate: number): Promise<number> => {
    await model.accumulate(batch, objective, null);
    const { gradientNorm = Number.NaN } = await model.step({ learningRate, epsilon, clip: 1 });
    return gradientNorm;
  };
  /** The adapter as the server keeps it: in the local engine's form. */
  const kept = async (name: string): Promise<string> => {
    const at = folder(name);
    await remote.save(at);
    return keptAt(at);
  };
  const weightsIn = async (at: string) => (await readCheckpoint(at)).contents.weights;
  const saved = async (model: Model, name: string) => {
    const at = folder(name);
    await model.save(at);
    return await weightsIn(at);
  };
  await learn(remote, 1e-8, 0.01);
  const first = await kept("first");
  const before = await weightsIn(first);
  const here = await local.open("policy", first);
  assert.deepEqual(await logpOf(remote), await logpOf(here));

  // with epsilon 1 a step is rate · g / (|g| + 1): the whole gradient shows, not its signs alone
  const norm = await learn(remote, 1, 1);
  const apart = Math.abs((await learn(here, 1, 1)) / norm - 1);
  assert.ok(apart < 1e-4, `the norm of the gradient that the server tells is ${apart} from ours`);
  const [there, ours] = [await weightsIn(await kept("second")), await saved(here, "ours")];
  let moved = 0;
  for (const [name, weights] of ours) {
    const change = (of: Float32Array): Float32Array => of.map((x, i) => x - before.get(name)![i]!);
    const [mine, other] = [change(weights), change(there.get(name)!)];
    const largest = Math.max(...mine.map(Math.abs));
    moved = Math.max(moved, largest);
    near(other, mine, 1e-4 * largest, name);
  }
  assert.ok(moved > 1e-3, `moved by ${moved}`);

  for (let i = 0; i < 20; i++) for (const model of [remote, here]) await learn(model, 1e-8, 0.003);
  near(await logpOf(remote), await logpOf(here), 1e-3, "after twenty steps");
});

test("samples carry their version and the probabilities of the trainer, before and after a step", async () => {
  const model = await engine.create({ id: "policy", seed: 4, vocabulary: [], contextTokens: 64 });
  const prompt = codec.open([{ role: "user", content: "hi" }]);
  const ask = () => model.sample([{ prompt, maxTokens: 6, seed: 9, temperature: 1 }]);
  const frozen = await model.freeze();
  for (const version of ["0", "1"]) {
    const [sample] = await ask();
    assert.equal(sample!.version, version);
    const tokens = [...prompt, ...sample!.action];
    const rows = batchOf([{ tokens, targets: [...sample!.action.keys()].map((i) => prompt.length + i) }]);
    const { logp } = await model.score(rows);
    near(logp, sample!.logp, 1e-4, "of the sampler");
    await model.accumulate(batch, objective, null);
    await model.step({ learningRate: 0.05 });
  }
  assert.equal((await frozen.sample([{ prompt, maxTokens: 6, seed: 9 }]))[0]!.version, "0");
});

test("more sampling sessions than our server keeps snapshots share one, and old ones are opened again", async () => {
  const many = tinkerEngine({ ...onServer, samplers: 20 });
  const model = await many.create({ id: "policy", seed: 9, vocabulary: [], contextTokens: 64 });
  const frozen = await model.freeze();
  const before = await frozen.score(batch);
  for (let i = 0; i < 18; i++) {
    await model.accumulate(batch, objective, null);
    await model.step({ learningRate: 0.01 });
    const prompts = Array.from({ length: 20 }, (_, n) => codec.open([{ role: "user", content: `${n}` }]));
    const samples = await model.sample(prompts.map((prompt) => ({ prompt, maxTokens: 1, seed: 1 })));
    assert.equal(samples.length, 20);
  }
  near((await frozen.score(batch)).logp, before.logp, 1e-6, "of the frozen");
  await many.dispose();
});

test("a network that loses, doubles, delays and cuts changes no weight", async () => {
  const random = randomStream("faults");
  let faults = 0;
  const bad: typeof fetch = async (...call) => {
    const fate = random.next();
    if (fate < 0.1) faults++;
    if (fate < 0.02) throw new TypeError("fetch failed"); // never arrives
    if (fate < 0.04) await fetch(...call).then((answer) => answer.arrayBuffer()); // arrives twice
    const answer = await fetch(...call);
    if (fate >= 0.04 && fate < 0.06) throw new TypeError("the answer was lost");
    if (fate >= 0.06 && fate < 0.07) return new Response((await answer.text()).slice(0, 9));
    if (fate >= 0.07 && fate < 0.08) return Response.json({ detail: "slow down" }, { status: 429 });
    if (fate >= 0.08 && fate < 0.09) return Response.json({ detail: "storm" }, { status: 503 });
    if (fate >= 0.09 && fate < 0.1) await new Promise((go) => setTimeout(go, 30));
    return answer;
  };
  const shaken = tinkerEngine({
    url: server.url,
    baseModel: "tiny",
    codec,
    key: "tml-secret", // and another rank than that of what is opened
    probe: false,
    fetch: bad,
    wait: () => new Promise((go) => setTimeout(go, 1)),
  });
  const begun = await engine.create({ id: "policy", seed: 5, vocabulary: [], contextTokens: 64 });
  const start = folder("start");
  await begun.save(start);
  const ends = [];
  for (const by of [engine, shaken]) {
    const model = await by.open("policy", start);
    for (let i = 0; i < 12; i++) {
      await model.accumulate(batch, objective, null);
      await model.step({ learningRate: 0.01 });
    }
    ends.push(await logpOf(model));
  }
  await shaken.dispose();
  assert.ok(faults > 3, `${faults} faults`);
  assert.deepEqual(ends[1], ends[0]);
});

test("the server is tried before a model is made; what was found out is said, made up for, and kept with the model", async () => {
  const said: string[] = [];
  const careful = tinkerEngine({
    url: server.url,
    baseModel: "tiny",
    codec,
    key: "tml-secret",
    rank: 4,
    say: (line) => said.push(line),
  });
  const request = { id: "policy", seed: 6, vocabulary: [], contextTokens: 64 };
  const model = await careful.create(request);
  const at = folder("tried");
  await model.save(at);

  // several targets at a token: what follows from them is what the local engine says, and learns the same
  const here = await local.open("policy", keptAt(at));
  const ids = Int32Array.from({ length: 2 * batch.target_A.length }, (_, i) => 60 + (i % 7));
  const want = { entropy: true, topk: 3, at: { ids, width: 2 } } as const;
  const [there, ours] = [await model.score(batch, want), await here.score(batch, want)];
  near(there.entropy!, ours.entropy!, 1e-4, "entropy");
  near(there.topk!.logp, ours.topk!.logp, 1e-4, "top k");
  assert.deepEqual(there.topk!.ids, ours.topk!.ids);
  near(there.at!, ours.at!, 1e-4, "given ids");
  near((await model.score(batch, { at: want.at })).at!, ours.at!, 1e-4, "given ids alone");
  const all: Objective<null> = {
    name: "all",
    together: "row",
    wants: () => want,
    prepare: async () => null,
    evaluate: ({ logp, entropy, topk, at: given }) => ({
      loss: 0,
      cotangents: {
        logp: logp.map((_, i) => 0.1 * i),
        entropy: entropy!.map((_, i) => 0.5 - 0.2 * i),
        topk: topk!.logp.map((_, i) => 0.05 * i - 0.2),
        at: given!.map((_, i) => 0.3 - 0.1 * i),
      },
      stats: {},
    }),
  };
  for (const one of [model, here]) {
    await one.accumulate(batch, all, null);
    await one.step({ learningRate: 1, epsilon: 1 });
  }
  const moved = await logpOf(here);
  assert.ok(moved.some((x, i) => Math.abs(x - ours.logp[i]!) > 0.01));
  near(await logpOf(model), moved, 1e-3, "after a step of everything");
  await assert.rejects(model.score(batch, { heads: ["value"] }), withCode("capability.missing", /heads/));
  await careful.dispose();
  const { reduction, findings } = JSON.parse(readFileSync(join(at, "tinker.json"), "utf8"));
  assert.equal(reduction, "sum");
  // our own server: sums, keeps limits, bounds ratios, and samples from the weights of now
  near(Float32Array.of(findings.twice, findings.long), Float32Array.of(2, 1), 0.1, "responses");
  assert.ok(findings.clipped < 0.1 && findings.beyond < 0.1 && findings.cooled < 1e-4);
  assert.ok(findings.samplerGap < 1e-4 && findings.staleGap > 0.1);
  for (const words of [/adds losses up/, /gradient clip: kept/, /bounds of the ratio/, /of temperature 1/]) {
    assert.match(said.join("\n"), words);
  }
  const mistaken = tinkerEngine({
    url: server.url,
    baseModel: "tiny",
    codec,
    key: "tml-secret",
    reduction: "sequence-mean",
  });
  await assert.rejects(mistaken.create(request), withCode("engine.failed", /set --reduction sum/));
  await mistaken.dispose();
});

test("a run ends, and one that was stopped goes on from its checkpoint", async () => {
  const options = {
    environment: echo(),
    engine,
    method: grpo.build({ tasks: 2, groupSize: 3, minibatches: 1, learningRate: 0.01 }),
    iterations: 2,
    contextTokens: 64,
    checkpointSeconds: 0,
    warmStart: false,
    evaluation: { tasks: 2, every: 0, validationTasks: 2 },
  } as const;
  const out = folder("run");
  const stop = new AbortController();
  const first: number[] = [];
  const stopped = runIn(out, options, {
    stop: stop.signal,
    onEvent: (event) => {
      if (event.type !== "iteration") return;
      first.push(event.iteration);
      stop.abort(new Error("enough"));
    },
  });
  await assert.rejects(stopped, /enough/);
  const { summary, events } = await runIn(out, { ...options, resume: true });
  const second = events.flatMap((event) => (event.type === "iteration" ? [event] : []));
  assert.deepEqual([first, second.map(({ iteration }) => iteration)], [[1], [2]]);
  assert.equal(summary.iterations, 2);
  // the weights went on from the server's checkpoint: the trainer gives what was sampled after it the same probability
  const gap = Object.entries(second[0]!.metrics).find(([name]) => name.endsWith("samplerGap.max"))?.[1];
  assert.ok(gap !== undefined && gap < 1e-4, `a gap of ${gap} in ${Object.keys(second[0]!.metrics)}`);
  const saved = JSON.parse(readFileSync(join(out, "run", "final", "tinker.json"), "utf8"));
  assert.equal(saved.version, 2);

  // the last weights come here from the server, whole
  const [aside, adapter] = [folder("downloaded"), folder("adapter")];
  const access = { url: server.url, key: "tml-secret" };
  const came = await downloadWeights(access, saved, aside);
  assert.deepEqual(came, { kind: "checkpoint", folder: aside });
  const [sent, held] = [await readCheckpoint(aside), await readCheckpoint(keptAt(join(out, "run", "final")))];
  assert.deepEqual(sent.contents.weights, held.contents.weights);
  await exportAdapter(aside, adapter, "tiny");
  const { r, lora_alpha } = JSON.parse(readFileSync(join(adapter, "adapter_config.json"), "utf8"));
  assert.deepEqual([r, lora_alpha], [4, 32]);
  await assert.rejects(
    downloadWeights(access, { ...saved, path: "tinker://none/weights/x" }, aside),
    withCode("engine.failed", /none/),
  );
});

/** Our server as others are: it hands out adapters in archives, and nothing as it is. */
async function archiving(
  names: (checkpoint: string) => boolean,
  where: "archive" | "half" | "disk" = "archive",
) {
  const keys: (string | undefined)[] = [];
  /** Makes PEFT's files of weights that the server keeps, in `out` of a folder. */
  async function packedOf(name: string): Promise<string> {
    const held = (await readdir(join(root, "server"), { recursive: true })).find((at) => at.endsWith(name));
    const packed = mkdtempSync(join(root, "packed-"));
    const out = join(packed, where === "disk" ? "adapter" : "out");
    mkdirSync(out);
    await exportAdapter(join(root, "server", held!), out, "tiny");
    writeFileSync(join(out, "other"), "x");
    return packed;
  }
  const front = createServer(async (request, response) => {
    const path = request.url ?? "";
    const asked = /checkpoints\/(?:sampler_weights\/)?([^/]+)\/archive$/.exec(path);
    if (path.endsWith("/external_weights_urls") || (asked && !names(path))) {
      return response.writeHead(404, { "Content-Type": "application/json" }).end('{"detail":"Not Found"}');
    }
    if (asked && where === "disk") {
      const url = pathToFileURL(await packedOf(asked[1]!)).href;
      return response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ url }));
    }
    if (asked) return response.writeHead(302, { Location: `/archives/${asked[1]}` }).end();
    const [, name] = /^\/archives\/(.+)$/.exec(path) ?? [];
    if (name) {
      keys.push(request.headers["x-api-key"]?.toString());
      const packed = await packedOf(name);
      await create({ gzip: true, cwd: packed, file: join(packed, "tar.gz") }, ["out"]);
      const archive = readFileSync(join(packed, "tar.gz"));
      return response.end(where === "half" ? archive.subarray(0, archive.length >> 1) : archive);
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { host, connection, "content-length": _, ...headers } = request.headers;
    const answer = await fetch(server.url + path, {
      method: request.method!,
      headers: headers as Record<string, string>,
      ...(request.method === "POST" && { body: Buffer.concat(parts) }),
    });
    const type = answer.headers.get("Content-Type");
    response.writeHead(answer.status, type === null ? {} : { "Content-Type": type });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  const url = await bound(front, "127.0.0.1", 0);
  return { url, keys, close: () => front.close().closeAllConnections() };
}

test("an adapter comes home from a server that hands out archives, whatever it calls them", async () => {
  const model = await engine.create({ id: "policy", seed: 5, vocabulary: [], contextTokens: 64 });
  await model.accumulate(batch, objective, undefined);
  await model.step({ learningRate: 0.05 });
  const there = await logpOf(model);
  const saved = folder("archived");
  await model.save(saved);
  const held = JSON.parse(readFileSync(join(saved, "tinker.json"), "utf8"));
  for (const [name, names, where, within, keys] of [
    ["kind", (path: string) => path.includes("/sampler_weights/"), "archive", "out", ["tml-secret"]],
    ["bare", (path: string) => !path.includes("/sampler_weights/"), "archive", "out", ["tml-secret"]],
    ["disk", () => true, "disk", "", []],
  ] as const) {
    const front = await archiving(names, where);
    const [aside, merged] = [folder(`archive-${name}`), folder(`merged-${name}`)];
    const came = await downloadWeights({ url: front.url, key: "tml-secret" }, held, aside);
    assert.deepEqual(came, { kind: "adapter", folder: join(aside, within) });
    const files = (await readdir(came.folder)).sort();
    assert.deepEqual(files, ["adapter_config.json", "adapter_model.safetensors"]);
    await exportWeights({ adapter: came.folder, base: join(root, "tiny") }, merged);
    const home = localEngine({ from: merged, threads: 1 });
    const here = await home.create({ id: "policy", seed: 1, vocabulary: [], contextTokens: 64 });
    near(await logpOf(here), there, 1e-5);
    await home.dispose();
    assert.deepEqual(front.keys, keys);
    // as `whetstone export` goes about it
    process.env.TINKER_ARCHIVE_KEY = "tml-secret";
    const stated = { url: front.url, keyEnv: "TINKER_ARCHIVE_KEY" };
    const named = await withWeights(
      saved,
      { ...stated, tokenizer: join(root, "tiny") },
      undefined,
      async (from) => from,
    );
    assert.ok(typeof named === "object" && named.base === join(root, "tiny"));
    await assert.rejects(
      withWeights(saved, stated, "owner/name", async () => assert.fail("no base model is here")),
      withCode("checkpoint.missing", /--base: got owner\/name, and an adapter of tiny/),
    );
    front.close();
  }
  const left = await readdir(join(root, "server"), { recursive: true });
  assert.deepEqual(
    left.filter((at) => at.includes("whetstone-export")),
    [],
  );
  const half = await archiving(() => true, "half");
  await assert.rejects(
    downloadWeights({ url: half.url, key: "tml-secret" }, held, folder("archive-half")),
    withCode("engine.failed", /cannot be unpacked.*own tools/),
  );
  half.close();
  const none = await archiving(() => false);
  await assert.rejects(
    downloadWeights({ url: none.url, key: "tml-secret" }, held, folder("archive-none")),
    withCode("engine.failed", /no archive: status 404.*own tools/),
  );
  none.close();
  await model.dispose();
});

test("a run leaves on the server what its folder names, and nothing else", async () => {
  const kept = async () =>
    (await readdir(root, { recursive: true })).filter((at) => /weights.whetstone-\w+$/.test(at));
  const method = grpo.build({ tasks: 2, groupSize: 3, minibatches: 1, learningRate: 0.01 });
  // two checkpoints with what plays ahead and the reference, the best and the last; or hardly a checkpoint
  for (const [checkpointSeconds, fewest, most] of [
    [0, 4, 7],
    [1000, 3, 5],
  ] as const) {
    const before = new Set(await kept());
    const { summary } = await runIn(folder(`left-${checkpointSeconds}`), {
      environment: echo(),
      engine,
      method: { ...method, frozen: { reference: {} } },
      iterations: 5,
      staleness: 1,
      contextTokens: 64,
      checkpointSeconds,
      warmStart: false,
      evaluation: { tasks: 2, every: 2, validationTasks: 2 },
    });
    const names = new Set((await heldBy(summary.out)).map((path) => path.split("/").at(-1)));
    const left = (await kept()).filter((at) => !before.has(at)).map((at) => at.split("/").at(-1));
    assert.deepEqual(new Set(left), names);
    assert.ok(names.size >= fewest && names.size <= most, `${names.size}`);
  }
});

test("a method that needs more than the server gives is refused by name, before the run", async () => {
  const method = { ...grpo.build({}), needs: ["logp", "entropy"] } as const;
  // without a trial nothing is taken for granted
  const refused = runIn(folder("refused"), { environment: echo(), engine, method, warmStart: false });
  await assert.rejects(refused, withCode("capability.missing", /"grpo" on engine "tinker": got no entropy/));
});
