import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { dpo } from "../../src/methods/baseline/dpo/method.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { sft } from "../../src/methods/baseline/sft/method.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { SessionFilter, TrafficStore, Write } from "../../src/store/trafficStore.ts";
import { fromFeedback, trainFromFeedback } from "../../src/train/fromFeedback.ts";
import { assistant, response, signal, user } from "../exchange/served.ts";
import { freshFile, onEach } from "../store/each.ts";

/** Thirty users who each correct the only reply to a question of theirs, at a time of their own. */
const corrections = (from: number, until: number): Write[] =>
  Array.from({ length: until - from }, (_, i) => from + i).flatMap((n): Write[] => {
    const [id, at] = [`r${n}`, 1000 * n];
    return [
      {
        kind: "response",
        response: response({
          ...{ id, at, session: `s${n}`, prompt: [user(`question ${n}`)] },
          choices: [{ message: assistant("go on"), stop: "eos" }],
        }),
      },
      {
        kind: "signal",
        signal: signal({
          ...{ id: `c${n}`, kind: "correction", text: "stop now", received: at + 1 },
          about: [{ response: id }],
        }),
      },
    ];
  });

onEach(
  "trainFromFeedback: a run on corrections in a store; resumed, it takes none that came later",
  async (where) => {
    const traffic = await openTrafficStore(where);
    await traffic.write(corrections(0, 30));
    const asked: (SessionFilter | undefined)[] = [];
    const watched: TrafficStore = {
      ...traffic,
      completeSessions(filter) {
        asked.push(filter);
        return traffic.completeSessions(filter);
      },
    };
    const out = join(freshFile(), "..", "dpo");
    const engine = tabularEngine({ context: "message" });
    const settings = { method: dpo.build({ learningRate: 0.5 }), engine, out };
    const done = await trainFromFeedback(watched, { ...settings, iterations: 3, until: 25_000 });
    assert.equal(done.iterations, 3);
    assert.ok(done.heldOut);
    const begun = JSON.parse(await readFile(join(out, "run.json"), "utf8"));
    assert.equal(begun.env, "logged");
    assert.deepEqual(begun.parts.feedback, { store: traffic.where, until: 25_000, measured: "" });
    await traffic.write(corrections(30, 60));
    const more = await trainFromFeedback(watched, { ...settings, iterations: 3, resume: true });
    assert.equal(more.iterations, 3);
    assert.deepEqual(
      asked.map((filter) => [filter?.until, filter?.receivedUntil, filter?.withSignal?.kinds]),
      Array.from({ length: 2 }, () => [25_000, 25_000, ["correction", "preference"]]),
    );
    await engine.dispose();
    await traffic.close();
  },
);

test("fromFeedback: who imitates pairs knows the words of what was rejected, for a later run from pairs", async () => {
  const traffic = await openTrafficStore(freshFile());
  await traffic.write(corrections(0, 30));
  const { environment } = await fromFeedback(traffic, sft.build(), { examples: "pair" });
  const texts = environment.vocabulary?.() ?? [];
  assert.ok(texts.includes("stop now"));
  assert.ok(texts.includes("go on"));
  await traffic.close();
});

test("fromFeedback: ratings of which none is good are not said to be missing", async () => {
  const traffic = await openTrafficStore(freshFile());
  await traffic.write([
    { kind: "response", response: response({ id: "r" }) },
    { kind: "signal", signal: signal({ id: "d", kind: "reaction", text: "thumbs_down", value: 0 }) },
  ]);
  await assert.rejects(fromFeedback(traffic, sft.build(), { examples: "rating" }), {
    code: "task.none",
    message: /1 example of the kind "rating", of which none says what to imitate/,
  });
  await traffic.close();
});

test("fromFeedback: only the kind that the method declares, or the one that is asked for, before its time", async () => {
  const traffic = await openTrafficStore(freshFile());
  await traffic.write(corrections(0, 30));
  const tasks = async (
    ...[method, options]: [Parameters<typeof fromFeedback>[1], Parameters<typeof fromFeedback>[2]?]
  ) => {
    const { environment } = await fromFeedback(traffic, method, options);
    return environment.tasks("train").length + environment.tasks("test").length;
  };
  assert.equal(await tasks(dpo.build()), 30);
  assert.equal(await tasks(sft.build(), { until: 10_000 }), 10);
  // a correction that comes after the time does not count, though its reply does
  assert.equal(await tasks(sft.build(), { until: 9_001 }), 9);
  // conversations carry the correction as their feedback
  assert.equal(await tasks(grpo.build(), { examples: "conversation" }), 27 + 3);
  await assert.rejects(tasks(dpo.build(), { examples: "rating" }), {
    code: "task.none",
    message: /no examples of the kind "rating"/,
  });
  await traffic.close();
});
