import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import { tokenRange } from "../../../common/tokens/tokenRanges.ts";
import { randomStream } from "../../../core/random.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Environment } from "../../../env/environment.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { constantMemory, stateAndAction } from "./constantMemory.ts";
import { ledger } from "./ledger.ts";
import { mem1 } from "./method.ts";
import { recentHistory } from "./recentHistory.ts";

/** Most words of the state. */
const stateWords = 8;
/**
 * Most tokens of history, with the two that begin and end a message. In the longest task 16 more are around it: prompt 4, turns
 * left 4, the reply 8. The state's context is as long there: state and action 12, a page 9, prompt and turns left 8, the reply 17.
 */
const historyTokens = 30;
const [tasks, groupSize] = [4, 8];
/** Iterations; a reply with a state has about twice the tokens of one without. */
const [iterations, withoutState] = [15, 30];
/** Number of questions per task in training, and in evaluation. */
const few = 2;
const counts = [2, 4, 6];
const many = Math.max(...counts);

const world = (remembers: boolean, questions: number, seed: number): Environment => {
  const inner = ledger({ questions, fewest: 0, seed });
  return remembers
    ? constantMemory(inner, { words: stateWords })
    : recentHistory(inner, { words: historyTokens, perMessage: 2 });
};

/** Words that a copying policy can point at: the next word of its copy source, or all words of a page. */
interface Pointed {
  readonly kind: "kept" | "page" | "said" | "turn" | "guess";
  readonly words: readonly string[];
  /** Written to end with; undefined where something else has to be written first. */
  readonly end: string | undefined;
  /** Words written since there was something to choose from. */
  readonly written: number;
}

const isWord = (word: string): boolean => /^[vn]\d$/.test(word);
const values = Array.from({ length: 8 }, (_, i) => `v${i}`);

/** Possible sources of the next word. */
function pointedAt(context: readonly string[], remembers: boolean): Pointed {
  const starts = context.flatMap((word, i) => (/^<(user|assistant)>$/.test(word) ? [i] : []));
  const messages = starts.map((from, m) => ({
    by: context[from]!,
    words: context.slice(from + 1, starts[m + 1]).filter((word) => word !== "<end>"),
  }));
  const reply = messages.pop()?.words ?? [];
  const left = Number(messages.findLast(({ words }) => words[1] === "left")?.words[0]);
  const pages = messages.filter(({ by, words }) => by === "<user>" && words.some(isWord)).map((m) => m.words);
  const bar = reply.indexOf("|");
  const act = reply.slice(bar + 1);
  if (remembers && bar < 0) {
    const before = messages.find(({ by }) => by === "<assistant>")?.words ?? [];
    const kept = before.slice(0, Math.max(0, before.indexOf("|"))).filter(isWord);
    const next = kept[reply.length];
    if (next !== undefined) return { kind: "kept", words: [next], end: "|", written: 0 };
    const fresh = (pages.at(-1) ?? []).filter((word) => !reply.includes(word));
    const words = reply.length < stateWords ? fresh : [];
    return { kind: "page", words, end: "|", written: reply.length - kept.length };
  }
  if (left > 1) {
    const [words, end] = act.length === 0 ? [["next"], undefined] : [[], "<end>"];
    return { kind: "turn", words, end, written: 0 };
  }
  // the answer: as many words as there are questions, the last ones guessed
  const asked = Number(messages.find(({ words }) => words[0] === "questions")?.words[1]);
  if (act.length >= asked) return { kind: "said", words: [], end: "<end>", written: 0 };
  const next = remembers ? reply.slice(0, bar).filter(isWord)[act.length] : undefined;
  const [kind, words] =
    next !== undefined
      ? (["said", [next]] as const)
      : !remembers && pages[act.length]
        ? (["page", pages[act.length]!] as const)
        : (["guess", values.filter((value) => !act.includes(value))] as const);
  return { kind, words, end: undefined, written: 0 };
}

/**
 * A linear policy that can point at words, with an initial bias to copy: it repeats its state, e³ times as likely as stopping,
 * and picks any word of a page. It has to learn, word by word, which words to keep. What it cannot see it guesses.
 */
const reader = (remembers: boolean) => {
  // called for every word of a context in turn
  const known = new WeakMap<readonly string[], Pointed>();
  const pointed = (context: readonly string[]): Pointed => {
    const found = known.get(context) ?? pointedAt(context, remembers);
    known.set(context, found);
    return found;
  };
  return tabularEngine({
    prior: (context, word) => {
      const { kind, words, end } = pointed(context);
      if (words.includes(word)) return kind === "kept" ? 3 : 0;
      return word === end ? 0 : -1e9;
    },
    features: (context) => {
      const { kind, words, written } = pointed(context);
      return [`${kind} ${Math.min(written, 2)}`, ...words.map((word) => `${kind} ${word}`)];
    },
  });
};

/** Longest prompt and reply together, in tokens. */
const peak = (played: readonly Trajectory[]): number =>
  Math.max(
    ...played.flatMap(({ turns }) =>
      turns.map(({ tokens }) => (tokens ? tokens.prompt.length + tokens.action.length : 0)),
    ),
  );

/** Zero advantages on the states, the separators included: what is kept is not trained. */
const actionsAlone: Advantage<null> = {
  name: "actionsAlone",
  init: () => null,
  apply: ({ trajectories }, _state, soFar = new Map()) => {
    const advantages = new Map(soFar);
    for (const t of trajectories) {
      const own = soFar.get(t.id)?.slice();
      if (!own) continue;
      t.turns.forEach(({ action }, turn) => {
        const { state } = stateAndAction(action.content);
        const words = state.split(/\s+/).filter(Boolean).length;
        own.fill(0, ...tokenRange(t, { trajectory: t.id, turn, span: [0, words + 1] }));
      });
      advantages.set(t.id, own);
    }
    return { advantages, next: null, stats: {} };
  },
};

const untrainedState = method({
  ...mem1,
  slots: (s) => ({ ...mem1.build(s).slots, advantage: [groupNormalised(), actionsAlone] }),
});

const arm = (what: string, remembers: boolean, recipe: Recipe = mem1): Arm => ({
  what,
  grid: [10, 30, 100].map((learningRate) => ({ learningRate })),
  async measure(choice, seed) {
    const { policy, counters, curve } = await trainInMemory({
      // the words of the longest tasks' prompts are in the vocabulary, though never seen in training
      environment: { ...world(remembers, few, seed), vocabulary: world(remembers, many, seed).vocabulary! },
      engine: reader(remembers),
      method: recipe.build({ ...plainAscent, tasks, groupSize, learningRate: Number(choice.learningRate) }),
      seed,
      iterations: remembers ? iterations : withoutState,
    });
    const measured = await Promise.all(
      counts.map(async (questions) => {
        const { result, trajectories } = await evaluate({
          environment: world(remembers, questions, seed),
          agent: policy,
          split: "test",
          mode: "sampled",
          tasks: 16,
          random: randomStream(seed).split("measure"),
          limit: (work) => work(),
        });
        return { share: result.reward, peak: peak(trajectories) };
      }),
    );
    const [two, four, six] = measured;
    return {
      value: mean(measured.map(({ share }) => share)),
      cost: { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 },
      curve: curve.map((m) => m.reward ?? Number.NaN),
      more: { two: two!.share, four: four!.share, six: six!.share, peakOfSix: six!.peak },
    };
  },
});

export default defineCheck({
  id: "mem1",
  level: "table",
  claim:
    "Practised on tasks of two questions, a policy that rewrites a compact state answers more of two, four and six than one that sees the latest history in as many tokens.",
  metric: "share of questions answered, mean over tasks of two, four and six, after practice on two",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm("the latest history, in as many tokens", false),
  method: arm("a state rewritten each turn", true),
  others: { untrained: arm("a state rewritten each turn, what it keeps untrained", true, untrainedState) },
  simpler: ["baseline", "untrained"],
  unequalCost:
    "a reply with a state has about twice the tokens, so the history's policy practises twice as many episodes",
  notes:
    "A linear policy over what it can point at stands for a network, with a bias to copy in all arms; which words are values and which are chatter it has to learn. Pages differ in length: the tokens hold all pages of two questions and of many tasks of four, and what a policy does not see it guesses among the values not yet named. Values count in any order. An earlier design cut the history to 36 tokens, which held two pages of six whatever was learnt, against 45 for the state; there a policy that saw all of its history, up to 88 tokens, answered 0.999 of six and the state 0.927. The state saves context; it was not better than the whole history.",
});
