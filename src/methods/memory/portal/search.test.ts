import assert from "node:assert/strict";
import { test } from "node:test";
import { trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { isSuccess, play } from "../../../../test/env/play.ts";
import type { ArtefactVersion } from "../../../core/artefact.ts";
import type { Chat, ChatRequest } from "../../../core/chat.ts";
import { randomStream } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { parseTree } from "../../../memory/behaviourTree/parse.ts";
import { treeProgram } from "../../../memory/behaviourTree/program.ts";
import { narrated, type Report, reportOf } from "../../../memory/behaviourTree/report.ts";
import { chatRewriter } from "../../../memory/behaviourTree/rewriter.ts";
import { improved } from "../../../memory/behaviourTree/search.ts";
import { readSituation } from "../../../memory/behaviourTree/situation.ts";
import { type Grammar, type Node, showTree } from "../../../memory/behaviourTree/tree.ts";
import { currentArtefact } from "../../../train/artefacts.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { treeKey } from "./learner.ts";
import { portal, pursuitTrees } from "./method.ts";
import { mutator } from "./mutate.ts";
import { pursuit, pursuitFacts, pursuitSkills } from "./pursuit.ts";

const grammar: Grammar = pursuitTrees.grammar;
const treeOf = (text: string): Node => parseTree(text, { ...grammar, limits: { nodes: 30 } });
const nothing: Report = { metrics: { success: 0, turns: 1, failures: 0 }, failings: [], spent: [] };

/** An episode of these skills; those that failed with what they lacked. */
function episode(skills: readonly (readonly [skill: string, lacks?: string])[], success = false): Trajectory {
  const turns = skills.map(([skill, lacks]) => ({
    ...turnOf([1], [2]),
    action: { role: "assistant", content: skill } as const,
    ...(lacks && { text: `${skill} : failure ; lacks ${lacks}` }),
  }));
  return trajectoryOf("t", turns, { end: { kind: "done", reason: "over", success } });
}

test("pursuit: the method's grammar is the environment's", () => {
  assert.deepEqual(grammar.facts, pursuitFacts);
  assert.deepEqual([...grammar.skills].sort(), [...pursuitSkills].sort());
});

test("readSituation: facts, status and what was lacking, in any order; the rest says nothing", () => {
  const facts = new Set(["tired", "at-door"]);
  assert.deepEqual(readSituation("grab : failure ; lacks not tired ; facts : tired at-door"), {
    facts,
    last: "failure",
    lacks: "not tired",
  });
  assert.deepEqual(readSituation("facts : tired at-door ; hello ; chase : maybe"), { facts });
  assert.deepEqual(readSituation(""), { facts: new Set() });
});

test("reportOf: means over episodes, what failed for want of what, turns by skill", () => {
  // 3 + 1 turns in two episodes: 2 each; 2 failures: 1 each; one success of two
  const report = reportOf([
    episode([["grab", "has-net"], ["grab", "has-net"], ["rest"]]),
    episode([["grab"]], true),
  ]);
  assert.deepEqual(report, {
    metrics: { success: 0.5, turns: 2, failures: 1 },
    failings: [{ skill: "grab", lacks: "has-net", times: 2 }],
    spent: [
      ["grab", 0.75],
      ["rest", 0.25],
    ],
  });
  const told = narrated(report);
  assert.match(told, /Success in 50 % of the episodes; on average 2\.0 turns, 1\.0 of them failures\./);
  assert.match(told, /grab failed 2 times for want of: has-net\./);
});

test("treeProgram: the expert's rules as a tree catch the thief wherever the expert does", async () => {
  const tree = treeOf(`selector
  sequence
    if has-net
    if thief-here
    selector
      sequence
        if thief-beside
        do grab
      sequence
        if at-door
        if not door-shut
        do shut-door
      sequence
        if not tired
        do chase
      do rest
  sequence
    if net-here
    do fetch-net
  sequence
    if not at-door
    do go-to-door
  sequence
    if door-shut
    do open-door
  do go-through`);
  const env = pursuit();
  const { act } = treeProgram(tree, { idle: "rest" });
  for (const task of env.tasks("validation").slice(0, 20))
    assert.ok(isSuccess(await play(env, task, act)), task.id);
});

test("treeProgram: a neural node does what its function chooses, and needs one", () => {
  const tree = parseTree("neural aim", { ...grammar, neural: ["aim"] });
  const task = { id: "t", prompt: [], metadata: {}, seed: 1 };
  const seen = [{ role: "user", content: "facts : tired" }] as const;
  const neural = {
    aim: ({ facts }: { facts: ReadonlySet<string> }) => (facts.has("tired") ? "rest" : "chase"),
  };
  assert.equal(treeProgram(tree, { idle: "rest", neural }).act(task, seen, randomStream(1)), "rest");
  assert.throws(
    () => treeProgram(tree, { idle: "rest" }).act(task, seen, randomStream(1)),
    /neural node aim/,
  );
});

test("mutator: every proposal keeps to the grammar, and equal streams give equal proposals", async () => {
  const report: Report = { ...nothing, failings: [{ skill: "grab", lacks: "not tired", times: 1 }] };
  const small = { ...grammar, limits: { nodes: 8, depth: 4 } };
  let tree = treeOf("selector\n  do grab\n  do chase");
  const ask = (one: Node, round: number) =>
    mutator({ edits: 3 })({
      tree: one,
      report,
      archive: [],
      grammar: small,
      count: 4,
      random: randomStream(round),
    });
  const seen = new Set<string>();
  for (let round = 0; round < 100; round++) {
    const proposals = await ask(tree, round);
    assert.deepEqual(proposals, await ask(tree, round));
    assert.equal(proposals.length, 4);
    for (const proposal of proposals) {
      assert.deepEqual(parseTree(showTree(proposal), small), proposal);
      seen.add(showTree(proposal));
    }
    tree = proposals[0]!;
  }
  assert.ok(seen.size > 200, `${seen.size} different trees of 400`);
});

test("mutator: what mends asks for the lacked fact at the failing skill, either way round", async () => {
  const report: Report = { ...nothing, failings: [{ skill: "chase", lacks: "not tired", times: 3 }] };
  const proposals = await mutator({ mends: 1, edits: 1 })({
    tree: treeOf("do chase"),
    report,
    archive: [],
    grammar,
    count: 40,
    random: randomStream(1),
  });
  const guarded = "sequence\n  if not tired\n  do chase";
  const instead = /^selector\n {2}sequence\n {4}if tired\n {4}do \S+\n {2}do chase$/;
  const texts = proposals.map(showTree);
  assert.ok(texts.every((text) => text === guarded || instead.test(text)));
  assert.ok(texts.includes(guarded) && texts.some((text) => instead.test(text)));
});

/** Each tree comes to what stands here; every episode is one of a success by chance. */
const worths = new Map([
  ["do rest", 0.5],
  ["do grab", 0.5],
  ["do chase", 0.7],
]);
const playOf = async (tree: Node): Promise<readonly Trajectory[]> =>
  Array.from({ length: 10 }, (_, i) => episode([["x"]], i < 10 * worths.get(showTree(tree))!));
const offering = (...texts: readonly string[]) => ({
  grammar,
  rewrite: async () => texts.map(treeOf),
  utility: ({ success }: Report["metrics"]) => success,
});

test("improved: the best of all goes on, a tie keeps the incumbent, and what was played is counted", async () => {
  const rest = treeOf("do rest");
  const better = await improved(
    rest,
    [],
    playOf,
    offering("do grab", "do chase", "do chase"),
    randomStream(1),
  );
  assert.equal(showTree(better.tree), "do chase");
  assert.equal(better.utility, 0.7);
  assert.equal(better.played, 3, "equal proposals are played once");
  assert.deepEqual(
    better.archive.map(({ tree, utility }) => [showTree(tree), utility]),
    [
      ["do chase", 0.7],
      ["do rest", 0.5],
      ["do grab", 0.5],
    ],
  );
  const tied = await improved(rest, better.archive, playOf, offering("do grab", "do rest"), randomStream(1));
  assert.equal(showTree(tied.tree), "do rest");
  assert.equal(tied.played, 2, "the incumbent is not played twice");
  assert.deepEqual(tied.archive.map(({ tree }) => showTree(tree)).sort(), ["do chase", "do grab", "do rest"]);
  const walked = { ...offering("do grab"), keeps: "proposal", archive: 1 } as const;
  const walk = await improved(treeOf("do chase"), [], playOf, walked, randomStream(1));
  assert.equal(showTree(walk.tree), "do grab");
  assert.deepEqual(
    walk.archive.map(({ tree }) => showTree(tree)),
    ["do chase"],
  );
});

/** A provider that says these replies, one after the other. */
function scripted(replies: readonly string[], asked: ChatRequest[] = []): Chat {
  const spent = { calls: 0, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
  return {
    id: "scripted",
    spent: () => spent,
    ask: async () => undefined,
    async reply(request) {
      asked.push(request);
      const content = replies[asked.length - 1] ?? "";
      return {
        message: { role: "assistant", content },
        stop: "eos",
        tokens: { input: 0, output: 0 },
        cached: false,
      };
    },
  };
}

test("chatRewriter: a tree that cannot be read goes back with the parser's message, so often and no more", async () => {
  const wish = {
    tree: treeOf("do rest"),
    report: nothing,
    archive: [],
    grammar,
    count: 1,
    random: randomStream(1),
  };
  const asked: ChatRequest[] = [];
  const chat = scripted(["do grabb", "Here it is:\n```\ndo grab\n```"], asked);
  const [tree] = await chatRewriter(chat, { task: "Catch the thief." })(wish);
  assert.equal(showTree(tree!), "do grab");
  assert.match(asked[0]!.messages[0]!.content, /Catch the thief\.[\s\S]*do rest[\s\S]*Success in 0 %/);
  assert.match(asked[1]!.messages[2]!.content, /line 1.*Did you mean grab\?/);
  const never: ChatRequest[] = [];
  const deaf = chatRewriter(scripted([], never), { task: "Catch the thief.", repairs: 2 });
  assert.deepEqual(await deaf(wish), []);
  assert.equal(never.length, 3);
});

test("portal: training leaves a readable tree in the run's memory, and equal seeds leave equal ones", async () => {
  const runs = await Promise.all(
    [1, 1].map(async () => {
      let tree: unknown;
      const engine = tabularEngine();
      let version: ArtefactVersion | undefined;
      const trained = await trainInMemory({
        environment: pursuit(),
        method: portal.build({ tasks: 2 }),
        engine,
        seed: 3,
        iterations: 3,
        onIteration: (_done, state) => {
          tree = state.memory[treeKey];
          version = currentArtefact(state);
        },
      });
      const measured = (await trained.evaluate("test", "greedy")).success;
      return { tree, counters: trained.counters, version, measured };
    }),
  );
  assert.deepEqual(runs[0], runs[1]);
  const tree = String(runs[0]!.tree);
  assert.equal(showTree(treeOf(tree)), tree);
  // the tree is in force as an artefact, so that what is measured is the tree, and not the model that nobody trained
  const { version, measured } = runs[0]!;
  assert.ok(version?.artefact.kind === "tree" && version.artefact.tree === tree);
  const environment = pursuit();
  const agent = treeProgram(treeOf(tree), pursuitTrees).act;
  const limit = <T>(work: () => Promise<T>) => work();
  const asked = { environment, agent, split: "test", mode: "greedy", tasks: 1000, limit } as const;
  const { result } = await evaluate({ ...asked, random: randomStream(3) });
  assert.deepEqual(measured, result.success);
  assert.ok(measured.mean > 0);
  // at least the incumbent and one proposal on two tasks, three times over
  assert.ok((runs[0]!.counters.episodes ?? 0) >= 12);
});
