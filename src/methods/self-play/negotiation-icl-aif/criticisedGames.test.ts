import assert from "node:assert/strict";
import { test } from "node:test";
import { critiquing, ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import type { Message } from "../../../core/types.ts";
import { criticisedGames, retold } from "./criticisedGames.ts";
import { haggling, limitOf, priceOf, suggestions, utilityOf } from "./haggling.ts";

obeysTheLaws(() => haggling({ buyers: 30 }), { garbage: 0.9 });

const game = (id: string, prices: string, success: boolean, outcome: number) =>
  trajectoryOf(
    id,
    prices.split(" ").map((content, k, { length }) =>
      turnOf([1], [2], {
        action: { role: "assistant", content },
        rewards: k === length - 1 ? { outcome } : {},
      }),
    ),
    { end: { kind: "done", reason: success ? "deal" : "breakdown", success } },
  );

test("haggling: a price up to the limit is a deal; the utility is its share of the range", async () => {
  assert.equal(utilityOf(8), 0);
  assert.equal(utilityOf(14), 0.5);
  const environment = haggling({ leaving: 0, seed: 2 });
  const task = environment.tasks("train").find((one) => limitOf(one) > 8 && limitOf(one) < 20)!;
  const limit = limitOf(task);
  const episode = await environment.start(task, randomStream(1));
  assert.equal((await episode.act({ content: `p${limit + 1}`, stop: "eos" })).end, undefined);
  const { rewards, end } = await episode.act({ content: `p${limit}`, stop: "eos" });
  assert.deepEqual([rewards, end!.kind === "done" && end!.reason], [{ outcome: utilityOf(limit) }, "deal"]);
  assert.equal(priceOf(game("a", "p20 p12", true, 0.3)), 12);
  assert.equal(priceOf(game("b", "p20 p12", false, 0)), undefined);
});

test("the critic sees how a game ended and nothing of the limit", async () => {
  const environment = haggling();
  const [task] = environment.tasks("train");
  const request = { right: true, detail: "hint", random: randomStream(1) } as const;
  const said = async (success: boolean, right: boolean) =>
    (await environment.critique!(task!, game("a", "p12", success, 0), { ...request, right })).text;
  assert.equal(await said(true, true), suggestions.deal);
  assert.equal(await said(false, true), suggestions.breakdown);
  assert.equal(await said(true, false), suggestions.breakdown);
});

test("retold: what was said, how it ended, what was suggested", () => {
  assert.equal(
    retold(0, game("a", "p20 p16", true, 0.7), "hold longer").content,
    "game 1 : p20 p16 ; deal suggestion : hold longer",
  );
  assert.equal(retold(2, game("a", "p20", false, 0), undefined).content, "game 3 : p20 ; breakdown");
});

test("each round's context has all earlier games; rounds are groups, and breakdowns count", async () => {
  const advice: (readonly Message[] | undefined)[] = [];
  const { units, stats } = await criticisedGames({
    rounds: 3,
    groupSize: 1,
    critic: critiquing((t) => ({ text: `to ${t.id}` })),
  })(
    ctxOf({
      tasks: [{ id: "task", prompt: [], metadata: {}, seed: 1 }],
      random: randomStream(1),
      task: (id) => ({ id, prompt: [], metadata: {}, seed: 1 }),
      play: async (play) => {
        advice.push(play.advice as readonly Message[] | undefined);
        return [game(`${play.attempt}`, "p15", play.attempt !== 1, play.attempt === 1 ? 0 : 0.5)];
      },
    }),
  );
  assert.deepEqual(
    advice.map((told) => told?.map(({ content }) => content)),
    [
      undefined,
      ["game 1 : p15 ; deal suggestion : to 0"],
      ["game 1 : p15 ; deal suggestion : to 0", "game 2 : p15 ; breakdown suggestion : to 1"],
    ],
  );
  assert.deepEqual(
    units.map(({ id, group }) => [id, group]),
    [
      ["0", "task/round 1"],
      ["1", "task/round 2"],
      ["2", "task/round 3"],
    ],
  );
  assert.deepEqual(stats, {
    "deals.1": 1,
    "utility.1": 0.5,
    "onDeals.1": 0.5,
    "deals.2": 0,
    "utility.2": 0,
    "deals.3": 1,
    "utility.3": 0.5,
    "onDeals.3": 0.5,
  });
});
