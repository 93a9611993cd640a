import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Model } from "../../../core/model.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { type FollowUpLikelihoodOptions, followUpLikelihood } from "./followUpLikelihood.ts";

/** A user who says "yes" with odds 3 : 1 : 1 : 1 after a good reply, everything alike after another one. */
const user: Promise<Model> = tabularEngine({
  prior: (context, word) => (context.includes("good") && word === "yes" ? Math.log(3) : 0),
}).create({ id: "user", seed: 1, vocabulary: ["ask good bad yes no oh"], contextTokens: 20 });

const reply = (content: string, more: Partial<Trajectory> = {}): Trajectory =>
  trajectoryOf(
    content,
    [
      turnOf([1], [2], {
        prompt: [{ role: "user", content: "ask" }],
        action: { role: "assistant", content },
      }),
    ],
    more,
  );

async function scores(options: Partial<FollowUpLikelihoodOptions> = {}) {
  const model = await user;
  const trajectories = [
    reply("good"),
    reply("bad"),
    reply("oh", { end: { kind: "failed", boundary: "model", message: "" } }),
    trajectoryOf("silent", []),
  ];
  const followUps = { all: { positive: ["yes"], negative: ["oh no"] } };
  const feedback = followUpLikelihood({ followUps, ...options });
  const signals = await feedback(ctxOf({ model: () => model }), { trajectories, units: [] }, {});
  return signals.map((s) => [s.channel, s.about[0]!.trajectory, s.kind === "score" ? s.value : undefined]);
}
const near = (got: unknown, want: number): void =>
  assert.ok(typeof got === "number" && Math.abs(got - want) < 1e-6, `${got}, not ${want}`);

// seven words may be said: the end and six others. After "good": yes has 3/9, any other 1/9; else 1/7 each
test("followUpLikelihood is worked by hand: mean log-likelihood per token, satisfied less dissatisfied", async () => {
  const [good, bad, ...rest] = await scores();
  assert.deepEqual(good!.slice(0, 2), ["followUp.all", "good"]);
  near(good![2], Math.log(3 / 9) - Math.log(1 / 9));
  near(bad![2], 0);
  assert.deepEqual(rest, []);
});

test("followUpLikelihood: sums let length count, swapped asks the other side, categories are averaged", async () => {
  const summed = await scores({ reduce: "sum" });
  near(summed[0]![2], Math.log(3 / 9) - 2 * Math.log(1 / 9));
  near(summed[1]![2], -Math.log(1 / 7) * (2 - 1));
  const both = await scores({
    followUps: {
      one: { positive: ["yes"], negative: ["no"] },
      two: { positive: ["no", "yes"], negative: ["yes"] },
    },
  });
  // one: ln 3 / 2; two: (ln(1/9) + ln(3/9)) / 2 − ln(3/9) = −ln 3 / 2, halved
  near(both.find(([channel, id]) => channel === "followUp.one" && id === "good")![2], Math.log(3) / 2);
  near(both.find(([channel, id]) => channel === "followUp.two" && id === "good")![2], -Math.log(3) / 4);
});

test("followUpLikelihood: taking off what follows silence moves all replies to a prompt alike", async () => {
  const followUps = { all: { positive: ["yes"], negative: ["no no no"] } };
  const [plain, debiased] = [await scores({ followUps }), await scores({ followUps, debias: true })];
  const [moved, alike] = [0, 1].map((i) => Number(debiased[i]![2]) - Number(plain[i]![2]));
  near(moved, alike!);
});
