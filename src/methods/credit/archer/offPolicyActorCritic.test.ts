import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Helper } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import { wordCodec } from "../../../engine/tabular/codec.ts";
import { tabularModel } from "../../../engine/tabular/model.ts";
import { newWeights } from "../../../engine/tabular/weights.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { offPolicyActorCritic } from "./offPolicyActorCritic.ts";
import { fromMemory, lastMessage, toMemory, transitionsOf } from "./turnReplay.ts";
import { twinCritic } from "./twinCritic.ts";

const codec = wordCodec(["start", "middle", "left", "right"]);
const [left, right] = [codec.encode("left")[0]!, codec.encode("right")[0]!];

/** Two turns: whatever is said at the start leads to the middle, where "right" pays 1 and "left" 0. */
function episode(id: string, first: number, second: number) {
  const say = (word: string, action: number) =>
    turnOf([...codec.open([{ role: "user", content: word }])], [action], {
      prompt: [{ role: "user", content: word }],
      action: { role: "assistant", content: codec.decode(Int32Array.of(action)) },
      stop: "length",
    });
  return trajectoryOf(id, [say("start", first), say("middle", second)]);
}

function evidence(): AnnotatedExperience {
  const trajectories = [
    episode("a", left, right),
    episode("b", right, left),
    episode("c", left, left),
    episode("d", right, right),
  ];
  const outcome = [1, 0, 0, 1].map((value, i) => ({ at: { trajectory: "abcd"[i]!, turn: 1 }, value }));
  return { trajectories, units: [], notes: {}, signals: [], channels: { outcome } };
}

test("turns become transitions: what they earned, what came next, nothing after a cut", () => {
  const t = episode("a", left, right);
  const seen = { trajectories: [t], units: [], notes: {}, signals: [] };
  const channels = {
    outcome: [{ at: { trajectory: "a" }, value: 1 }],
    shaped: [{ at: { trajectory: "a", turn: 0 }, value: 0.5 }],
  };
  const made = transitionsOf({ ...seen, channels }, lastMessage);
  assert.deepEqual(
    made.map(({ observation, utterance, reward, next }) => [observation, utterance, reward, next]),
    [
      ["start", "left", 0.5, "middle"],
      ["middle", "right", 1, null],
    ],
  );
  const cut = { ...t, end: { kind: "truncated", limit: "turns", at: 2 } as const };
  assert.equal(transitionsOf({ ...seen, trajectories: [cut], channels }, lastMessage).length, 1);
  assert.deepEqual(fromMemory(JSON.parse(JSON.stringify(toMemory(made)))), made);
  assert.deepEqual(fromMemory([{ observation: "o" }, 3]), []);
});

test("critics learn what utterances are worth, and the policy follows after the warm-up", async () => {
  const critic = twinCritic({ learningRate: 0.3, blend: 0.3 })(randomStream(2));
  const policy = tabularModel(
    "policy",
    newWeights(codec, "message", (_, w) => (w === "left" || w === "right" ? 0 : -1e9)),
    64,
  );
  const memory = new Map<string, Json>();
  const at = (iteration: number) =>
    ctxOf({
      clock: { iteration, phase: "train", step: 0 },
      random: randomStream(iteration),
      model: () => policy,
      helper: <In, Label, Out>() => critic as unknown as Helper<In, Label, Out>,
      memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
    });
  const step = { optimiser: "sgd", learningRate: 1 } as const;
  const update = offPolicyActorCritic({
    step,
    discount: 0.5,
    criticSteps: 60,
    warmUp: 1,
    capacity: 12,
    observation: lastMessage,
  });
  const batch = batchOfRows([]);
  const warm = await update(at(0), batch, [policyGradient()], evidence());
  assert.deepEqual([warm.steps, warm.replay], [0, 8]);
  const learnt = await update(at(1), batch, [policyGradient()], evidence());
  assert.deepEqual([learnt.steps, learnt.replay], [5, 12], "the oldest four left");

  // Q(middle, ·) = 0 and 1; V(middle) lies in between; Q(start, ·) = V(middle)/2 whatever is said
  const [l, r, v, s] = (
    await critic.predict([
      { observation: "middle", utterance: "left" },
      { observation: "middle", utterance: "right" },
      { observation: "middle" },
      { observation: "start", utterance: "left" },
    ])
  ).map(({ now }) => now[0]);
  assert.ok(Math.abs(l!) < 0.05 && Math.abs(r! - 1) < 0.05, `${l} ${r}`);
  assert.ok(v! > 0.3 && v! < 0.95, `${v}`);
  assert.ok(Math.abs(s! - v! / 2) < 0.1, `${s}`);
  const odds = (word: string): number => {
    const situation = policy.weights.situationOf(codec.open([{ role: "user", content: word }]));
    const logits = policy.weights.distribution(situation).logits_W;
    return logits[right - codec.writable]! - logits[left - codec.writable]!;
  };
  assert.ok(odds("middle") > 0.3, `${odds("middle")}`);
  assert.ok(Math.abs(odds("start")) < odds("middle") / 2, `${odds("start")}`);
});

test("without any turn nothing is learnt", async () => {
  const update = offPolicyActorCritic({ step: { learningRate: 1 } });
  const ctx = ctxOf({ memory: { get: () => undefined, set: () => {} } });
  const none: AnnotatedExperience = { trajectories: [], units: [], notes: {}, signals: [], channels: {} };
  const batch = batchOfRows([]);
  assert.deepEqual(await update(ctx, batch, [policyGradient()], none), { steps: 0, replay: 0 });
});
