import assert from "node:assert/strict";
import { test } from "node:test";
import type { z } from "zod";
import { mean } from "../../../common/statistics/statistics.ts";
import type { ArtefactVersion } from "../../../core/artefact.ts";
import type { Chat, ChatRequest } from "../../../core/chat.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import { randomStream } from "../../../core/random.ts";
import type { Candidate, RubricLibrary } from "../../../core/rubrics.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { chatRubricJudge } from "../../../evaluator/rubricJudge.ts";
import { chatProposer } from "../../../memory/rubrics/proposer.ts";
import { currentArtefact, proposedArtefacts } from "../../../train/artefacts.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { preferenceGame } from "../../../worlds/preferenceGame.ts";
import { evolutionIn } from "./learner.ts";
import { rewardharness } from "./method.ts";

test("rewardharness: trains nothing until the labels are there, then raises what people prefer, by its library alone", async () => {
  const paid: number[] = [];
  const steps: number[] = [];
  let kept: unknown;
  let versions: readonly ArtefactVersion[] = [];
  let told = false;
  const { counters } = await trainInMemory({
    environment: preferenceGame({ questions: 1, replies: 6, kind: "bradleyTerry", scale: 3 }),
    method: rewardharness.build({ ...plainAscent, tasks: 1, groupSize: 16, learningRate: 2 }),
    engine: tabularEngine(),
    seed: 1,
    iterations: 40,
    onIteration: ({ experience: { trajectories }, stats }, state) => {
      paid.push(mean(trajectories.map((t) => t.turns[0]?.rewards.outcome ?? 0)));
      steps.push(stats.steps ?? 0);
      kept = evolutionIn({ get: (key) => state.memory[key] })?.best.accuracy;
      versions = proposedArtefacts(state);
      told ||= currentArtefact(state) !== undefined;
    },
  });
  const begins = steps.findIndex((n) => n > 0);
  // 8 pairs an iteration at most, less equal replies: a hundred take more than twelve iterations
  assert.ok(begins > 12 && begins < 30, `${begins}`);
  assert.ok(steps.slice(begins).every((n) => n === 1));
  assert.ok(typeof kept === "number" && kept > 0.6, `${kept}`);
  assert.ok((counters["judge.calls"] ?? 0) > 100);
  // its libraries are artefacts with a lineage, one of which the judge goes by, and the policy is told none
  assert.ok(versions.length > 1 && versions.every(({ artefact }) => artefact.kind === "rubrics"));
  const ids = new Set(versions.map(({ id }) => id));
  assert.ok(versions.slice(1).every(({ parents }) => parents.length === 1 && ids.has(parents[0] ?? "")));
  assert.equal(versions.filter(({ why }) => why.endsWith("the judge goes by it")).length, 1);
  assert.equal(told, false);
  const [before, after] = [mean(paid.slice(0, begins)), mean(paid.slice(-5))];
  assert.ok(after > before + 0.15, `${before} to ${after}`);
});

/** A provider that answers questions as said. */
function asking(answer: (asked: string) => unknown, heard: string[] = []): Chat {
  const spent = { calls: 0, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
  const said = ({ messages }: ChatRequest): unknown => {
    heard.push(messages[0]!.content);
    const found = answer(messages[0]!.content);
    if (found !== "fail") return found;
    throw new WhetstoneError("chat.failed", { where: "test", got: "", expected: "", fix: "" });
  };
  return {
    id: "asking",
    spent: () => spent,
    ask: async <T>(request: ChatRequest, schema: z.ZodType<T>) => schema.safeParse(said(request)).data,
    reply: async (request) => ({
      message: { role: "assistant", content: String(said(request)) },
      stop: "eos",
      tokens: { input: 0, output: 0 },
      cached: false,
    }),
  };
}

const library: RubricLibrary = {
  rubrics: [
    { id: "short", kind: "skill", text: "Short replies are better." },
    { id: "count", kind: "tool", text: "Count the words." },
    { id: "kind", kind: "skill", text: "Kind replies are better." },
  ],
};
const candidates: readonly Candidate[] = [
  { asked: "hello", reply: "hi" },
  { asked: "hello", reply: "go away" },
];

const call = { random: randomStream(1) };

test("chatRubricJudge: scores by the skills and what the tools find, in the order shown", async () => {
  const heard: string[] = [];
  const chat = asking(
    (asked) =>
      asked.startsWith("Count")
        ? "two"
        : { candidates: [0.9, 0.2].map((score) => ({ reasons: "so", score })) },
    heard,
  );
  assert.deepEqual(await chatRubricJudge(chat)(library).score(candidates, call), [
    { score: 0.9 },
    { score: 0.2 },
  ]);
  const question = heard.at(-1)!;
  // the lines around texts are fences, drawn for each question
  const inner = question.replaceAll(/<\/?[0-9a-f]{16}>\n?/g, "");
  assert.match(inner, /- Short replies are better\.\n- Kind replies are better\.[\s\S]*Asked:\nhello/);
  assert.match(inner, /Candidate 1:\nhi\nFindings on it:\ncount finds: two\n\nCandidate 2:\ngo away\n/);
});

test("chatRubricJudge: of a large library what is named as relevant is read, and no more than wanted", async () => {
  const heard: string[] = [];
  const named = asking((asked) => (asked.startsWith("Which") ? { ids: ["kind", "gone"] } : "fail"), heard);
  assert.equal(await chatRubricJudge(named, { routed: 2 })(library).score(candidates, call), undefined);
  assert.match(heard[0]!, /At most 2|at most 2/);
  assert.match(heard[1]!, /criteria:\n- Kind replies are better\.\n\n/);
});

test("chatRubricJudge: too few scores, or a provider that fails, is a failure", async () => {
  const few = asking(() => ({ candidates: [{ reasons: "so", score: 1 }] }));
  assert.equal(await chatRubricJudge(few)({ rubrics: [] }).score(candidates, call), undefined);
  assert.equal(
    await chatRubricJudge(asking(() => "fail"))({ rubrics: [] }).score(candidates, call),
    undefined,
  );
});

test("chatProposer: shows where the judge went wrong and right, and passes edits on; anything else is none", async () => {
  const [better, worse] = [candidates[0]!, candidates[1]!];
  const judged = [
    { pair: { better, worse }, lead: -0.5 },
    { pair: { better: worse, worse: better }, lead: 0.5 },
  ];
  const heard: string[] = [];
  const edits = [{ kind: "delete", id: "short" }];
  const wish = { library, judged, random: randomStream(1) };
  assert.deepEqual(await chatProposer(asking(() => ({ analysis: "x", edits }), heard))(wish), edits);
  assert.match(heard[0]!, /otherwise than people do:\nAsked: hello\nPreferred by people: hi\n/);
  assert.match(heard[0]!, /as people do:\nAsked: hello\nPreferred by people: go away\n/);
  assert.deepEqual(await chatProposer(asking(() => ({ edits: [{ kind: "burn" }] })))(wish), []);
  assert.deepEqual(await chatProposer(asking(() => "fail"))(wish), []);
});
