// Adapters and value heads through the public door: made, trained, saved, opened, exported.
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Model } from "../../../src/core/model.ts";
import type { ModelRequest } from "../../../src/engine/engine.ts";
import { readCheckpoint } from "../../../src/engine/local/checkpoint.ts";
import { exportAdapter, exportWeights } from "../../../src/engine/local/export.ts";
import { type LocalOptions, type LoraOptions, localEngine } from "../../../src/engine/local/index.ts";
import { readPeft } from "../../../src/engine/local/peft.ts";
import { coefficientsFor, device, failsWith, linear, near, randomBatch, words } from "./support.ts";

let root = "";
before(async () => {
  root = await mkdtemp(join(tmpdir(), "whetstone-adapters-"));
});
after(() => rm(root, { recursive: true, force: true }));
const folder = (name: string): Promise<string> => mkdtemp(join(root, name));

const size = { width: 16, layers: 2, heads: 2, kvHeads: 1, feedForward: 24 };
const request: ModelRequest = { id: "policy", seed: 3, vocabulary: words, contextTokens: 64 };
const batch = randomBatch([12, 7, 9], "adapters");
const want = { entropy: true } as const;

async function train(model: Model, seed: string): Promise<void> {
  await model.accumulate(batch, linear(coefficientsFor(batch, seed)), null);
  await model.step({ learningRate: 0.05 });
}

/** A folder with a plain model for adapters to sit on. */
async function base(): Promise<string> {
  const engine = localEngine({ device, size, threads: 2 });
  const at = await folder("base");
  await (await engine.create(request)).save(at);
  await engine.dispose();
  return at;
}

test("an adapter begins without effect, is all that training changes, and is saved, opened and exported", async () => {
  const from = await base();
  const engine = localEngine({ device, from, lora: { rank: 2, targets: ["v_proj", "q_proj"] }, threads: 2 });
  const plain = localEngine({ device, from, threads: 2 });
  const before = await (await plain.create(request)).score(batch, want);
  const model = await engine.create(request);
  // both layers: A [2, 16] and B [16, 2] for q, A [2, 16] and B [8, 2] for v
  assert.equal(model.parameters, 2 * (2 * 16 + 16 * 2 + 2 * 16 + 8 * 2));
  assert.deepEqual(await model.score(batch, want), before);
  await train(model, "one");
  await train(model, "two");
  const trained = await model.score(batch, want);
  assert.notDeepEqual(trained.logp, before.logp);

  const saved = await folder("saved");
  await model.save(saved);
  const [first, now] = [await readCheckpoint(from), await readCheckpoint(saved)];
  for (const [name, w] of first.contents.weights) assert.deepEqual(now.contents.weights.get(name), w, name);
  assert.deepEqual(now.architecture.adapter, { rank: 2, alpha: 4, targets: ["q_proj", "v_proj"] });

  const opened = await engine.open("policy", saved);
  await train(model, "three");
  await train(opened, "three");
  assert.deepEqual(await opened.score(batch, want), await model.score(batch, want), "moments go with it");

  const [peft, merged] = [await folder("peft"), await folder("merged")];
  await exportAdapter(saved, peft, "owner/base");
  assert.deepEqual((await readdir(peft)).sort(), ["adapter_config.json", "adapter_model.safetensors"]);
  assert.deepEqual((await readPeft(peft, now.architecture.config)).adapter, now.architecture.adapter);
  await exportWeights(saved, merged);
  const whole = await (await plain.open("policy", merged)).score(batch, want);
  near(whole.logp, trained.logp, 1e-5, "merged");
  const serving = localEngine({ device, threads: 2, merged: true });
  const served = await serving.open("policy", saved);
  assert.deepEqual(await served.score(batch, want), whole, "merged when it is opened");
  assert.equal(served.version, "2");

  const again = localEngine({ device, from, lora: { from: peft }, threads: 2 });
  assert.deepEqual(await (await again.create(request)).score(batch, want), trained);
  for (const e of [engine, plain, serving, again]) await e.dispose();
});

test("where the base lies beside the adapter, exports and a new run's start have the adapter too", async () => {
  const engine = localEngine({ device, size, lora: { rank: 2 }, threads: 1 });
  const model = await engine.create(request);
  await train(model, "one");
  const trained = await model.score(batch, want);
  const [saved, merged] = [await folder("beside"), await folder("merged")];
  await model.save(saved);
  await exportWeights(saved, merged);
  for (const from of [saved, merged]) {
    const next = localEngine({ device, from, threads: 1 });
    near((await (await next.create(request)).score(batch, want)).logp, trained.logp, 1e-5, from);
    await next.dispose();
  }
  await engine.dispose();
});

test("value heads begin at 0, are trained, saved and opened; other copies have them too", async () => {
  const engine = localEngine({ device, size, threads: 2 });
  const model = await engine.create({ ...request, heads: ["value"] });
  const objective = {
    ...linear(coefficientsFor(batch, "heads")),
    wants: () => ({ heads: ["value"] }),
    evaluate: () => ({ loss: 0, cotangents: { heads: { value: new Float32Array(A).fill(-1) } }, stats: {} }),
    together: "batch",
  } as const;
  const A = batch.target_A.length;
  const value = async (m: Pick<Model, "score">) => (await m.score(batch, { heads: ["value"] })).heads.value!;
  assert.deepEqual(await value(model), new Float32Array(A));
  const frozen = await model.freeze();
  await model.accumulate(batch, objective, null);
  await model.step({ learningRate: 0.05 });
  const raised = await value(model);
  assert.ok(raised.reduce((sum, v) => sum + v) > 0, "a loss of −Σ value raises it");
  assert.deepEqual(await value(frozen), new Float32Array(A));
  const saved = await folder("heads");
  await model.save(saved);
  assert.deepEqual(await value(await engine.open("policy", saved)), raised);
  await engine.dispose();
});

test("exportAdapter refuses a model whose weights were all trained", async () => {
  const at = await base();
  await assert.rejects(
    exportAdapter(at, await folder("none"), at),
    failsWith("capability.missing", /safetensors/),
  );
});

test("localEngine refuses adapters that cannot be, and what is not there", async () => {
  const strange: LoraOptions[] = [
    { rank: 0 },
    { rank: 1.5 },
    { alpha: 0 },
    { targets: [] },
    { targets: ["lm_head" as "q_proj"] },
  ];
  for (const lora of strange) {
    assert.throws(
      () => localEngine({ lora }),
      failsWith("option.range", /localEngine lora/),
      JSON.stringify(lora),
    );
  }
  const refuses = async (options: LocalOptions, refusal: ReturnType<typeof failsWith>) => {
    const engine = localEngine(options);
    await assert.rejects(engine.create(request), refusal);
    await engine.dispose();
  };
  await refuses({ lora: { from: join(root, "nowhere") } }, failsWith("checkpoint.damaged", /adapter_config/));
  assert.throws(() => localEngine({ memory: 1000 }), failsWith("option.range", /1 MiB/));
});

test("a checkpoint of an adapter says where its base is, and does without a copy", async () => {
  const from = await base();
  const engine = localEngine({ device, from, lora: { rank: 2 }, threads: 1 });
  const model = await engine.create(request);
  await train(model, "one");
  const frozen = await model.freeze();
  const [saved, copy, forked] = [await folder("light"), await folder("frozen"), await folder("forked")];
  await model.save(saved);
  await frozen.save(copy);
  await (await model.fork("copy")).save(forked);
  for (const at of [saved, copy, forked]) {
    const names = await readdir(at);
    assert.ok(
      names.includes("adapter_model.safetensors") && !names.includes("model.safetensors"),
      `${names}`,
    );
  }
  const opened = await engine.open("policy", saved);
  assert.deepEqual((await opened.score(batch, want)).logp, (await model.score(batch, want)).logp);
  await opened.save(forked); // what was opened knows its base too
  assert.ok(!(await readdir(forked)).includes("model.safetensors"));

  // to begin from it is to begin from what was trained
  const further = localEngine({ device, from: saved, threads: 1 });
  const merged = await (await further.create(request)).score(batch, want);
  const trained = await model.score(batch, want);
  near(merged.logp, trained.logp, 1e-5, "merged");

  const other = localEngine({ device, size, threads: 1 });
  await (await other.create({ ...request, seed: 8 })).save(from);
  await assert.rejects(
    readCheckpoint(saved),
    failsWith("checkpoint.damaged", /with other weights than when/),
  );
  await rm(from, { recursive: true });
  await assert.rejects(
    readCheckpoint(saved),
    failsWith("checkpoint.missing", /whose base model .* is not there any more.*trainer\.json/),
  );
  for (const used of [engine, further, other]) await used.dispose();
});

test("an adapter on an adapter, whose base lies elsewhere or beside it, is opened, begun from and exported whole", async () => {
  const elsewhere = localEngine({ device, from: await base(), lora: { rank: 2 }, threads: 1 });
  const beside = localEngine({ device, size, lora: { rank: 2 }, threads: 1 });
  for (const engine of [elsewhere, beside]) {
    const first = await folder("first");
    const model = await engine.create(request);
    await train(model, "one");
    await model.save(first);
    const further = localEngine({ device, from: first, lora: { rank: 2 }, threads: 1 });
    const second = await further.create(request);
    await train(second, "two");
    const trained = await second.score(batch, want);
    const [saved, merged, peft, plain] = await Promise.all(["second", "merged", "peft", "plain"].map(folder));
    await second.save(saved!);
    const circular = await folder("circular");
    await second.save(circular);
    const trainer = JSON.parse(await readFile(join(circular, "trainer.json"), "utf8"));
    trainer.base.path = circular;
    await writeFile(join(circular, "trainer.json"), JSON.stringify(trainer));
    await assert.rejects(readCheckpoint(circular), failsWith("checkpoint.damaged", /more than 16 adapters/));
    const opened = await (await further.open("policy", saved!)).score(batch, want);
    assert.deepEqual(opened.logp, trained.logp);
    await exportWeights(saved!, merged!);
    for (const from of [saved!, merged!]) {
      const next = localEngine({ device, from, threads: 1 });
      near((await (await next.create(request)).score(batch, want)).logp, trained.logp, 1e-5, from);
      await next.dispose();
    }
    await assert.rejects(
      exportAdapter(saved!, peft!),
      failsWith("capability.missing", /which is an adapter itself.*--base/),
    );
    // as its message says
    await exportWeights(first, plain!);
    await exportAdapter(saved!, peft!, plain!);
    const again = localEngine({ device, from: plain!, lora: { from: peft! }, threads: 1 });
    near((await (await again.create(request)).score(batch, want)).logp, trained.logp, 1e-5, "PEFT's");
    for (const used of [further, again]) await used.dispose();
  }
  for (const engine of [elsewhere, beside]) await engine.dispose();
});

test("a model's folder that lacks a file is told which, without a word of runs", async () => {
  for (const name of ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]) {
    const from = await base();
    await rm(join(from, name));
    await assert.rejects(readCheckpoint(from), (e: Error) => {
      assert.match(e.message, new RegExp(`/${name}: got no such file.*Copy ${name} there`));
      assert.doesNotMatch(e.message, /run|earlier/);
      return true;
    });
  }
});
