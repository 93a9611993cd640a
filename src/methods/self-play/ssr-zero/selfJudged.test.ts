import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxWith, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { scorer } from "../../../core/evaluator.ts";
import type { Frozen, Model, Sample, SampleRequest } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";
import { replyOf, type SelfJudgedOptions, scoreIn, selfJudged } from "./selfJudged.ts";

test("the last number of a judgement is its score, cut to 0…100", () => {
  assert.equal(scoreIn("two of 3 words are right , so 65"), 65);
  assert.equal(scoreIn("250"), 100);
  assert.equal(scoreIn("-3"), 0);
  assert.equal(scoreIn("12.5"), 12.5);
  assert.equal(scoreIn("good"), undefined);
});

const saying = (content: string, id = "t"): Trajectory =>
  trajectoryOf(id, [turnOf([1], [2], { action: { role: "assistant", content } })]);

test("the judge sees the reply without thoughts, also without an unfinished one", () => {
  assert.equal(replyOf(saying("<think>\nwell</think> hello ")), "hello");
  assert.equal(replyOf(saying("hello <think>on and on")), "hello");
});

/** Rewards of attempts with these replies, by a model that gives these judgements in turn to a reply. */
async function rewards(
  replies: readonly string[],
  judgements: Readonly<Record<string, readonly string[]>>,
  options: SelfJudgedOptions = {},
  contextTokens = 256,
) {
  const asked: string[] = [];
  const models: string[] = [];
  const given = new Map<string, number>();
  const texts: string[] = [];
  const place = (text: string): number => texts.push(text) - 1;
  const model = (name: string) =>
    ({
      contextTokens,
      codec: {
        open: (messages: readonly { content: string }[]) => Int32Array.of(place(messages[0]!.content)),
        decode: (ids: Int32Array) => texts[ids[0]!]!,
      },
      sample: async (requests: readonly SampleRequest[]): Promise<Sample[]> =>
        requests.map(({ prompt }) => {
          const text = texts[prompt[0]!]!;
          asked.push(text);
          models.push(name);
          const [, reply] = /reply : (.*?) ;/.exec(text)!;
          const at = given.get(reply!) ?? 0;
          given.set(reply!, at + 1);
          const nothing = new Float32Array(1);
          const action = Int32Array.of(place(judgements[reply!]![at]!));
          return { action, logp: nothing, behaviour: nothing, stop: "eos", version: "0" };
        }),
    }) as unknown as Model & Frozen;
  const counts: Record<string, number> = {};
  const ctx = ctxWith(
    {},
    {
      random: randomStream(1),
      model: () => model("policy"),
      frozen: () => model("reference"),
      count: (name, amount) => void (counts[name] = (counts[name] ?? 0) + amount),
    },
  );
  const trajectories = replies.map((content, i) => saying(content, `${i}`));
  const signals = await selfJudged(options)(ctx, { trajectories, units: [] }, {});
  const of = trajectories.map(
    ({ id }) =>
      signals.flatMap((s) => (s.kind === "reward" && s.about[0]!.trajectory === id ? [s.value] : []))[0],
  );
  return { of, asked, models, counts };
}

test("scores are averaged over judgements and divided by 100", async () => {
  const { of, counts } = await rewards(["a", "b"], { a: ["80", "so 60"], b: ["0", "10"] }, { samples: 2 });
  assert.deepEqual(of, [0.7, 0.05]);
  assert.deepEqual(counts, { "judge.calls": 4, generations: 4, "tokens.sampled": 4 });
});

test("a judgement without a number is drawn once more, and then counts as 0", async () => {
  const { of, counts } = await rewards(["a", "b"], { a: ["hm", "40"], b: ["hm", "hm"] });
  assert.deepEqual(of, [0.4, 0]);
  assert.deepEqual(counts, { "judge.calls": 4, generations: 4, "tokens.sampled": 4 });
});

test("a reply out of format gets 0 and is not judged; thoughts are not shown", async () => {
  const { of, asked } = await rewards(["<think>only</think>", "<think>x</think>a"], { a: ["50"] });
  assert.deepEqual(of, [0, 0.5]);
  assert.equal(asked.length, 1);
  assert.ok(!asked[0]!.includes("think>"));
});

test("a metric is averaged with the score; where it fails there is no reward", async () => {
  const metric = scorer("metric", async ({ trajectory }) => (replyOf(trajectory) === "a" ? 0.2 : undefined));
  const { of } = await rewards(["a", "b"], { a: ["60"], b: ["60"] }, { metric });
  assert.ok(Math.abs(of[0]! - 0.4) < 1e-12);
  assert.equal(of[1], undefined);
});

test("the first weights judge where they are asked to, and a prompt that does not fit gives no reward", async () => {
  assert.deepEqual((await rewards(["a"], { a: ["1"] }, { judge: "reference" })).models, ["reference"]);
  assert.deepEqual((await rewards(["a"], { a: ["1"] }, {}, 1)).of, [undefined]);
});
