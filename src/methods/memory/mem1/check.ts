import { mean } from "../../../common/statistics/statistics.ts";
import { randomStream } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Environment } from "../../../env/environment.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { constantMemory } from "./constantMemory.ts";
import { ledger } from "./ledger.ts";
import { mem1 } from "./method.ts";
import { recentHistory } from "./recentHistory.ts";

/** Words of the state; a page has seven, so that two pages and the reply between them fit the truncated history. */
const [stateWords, historyWords] = [8, 16];
const [tasks, groupSize, iterations] = [8, 8, 20];
/** Number of questions per task in training, and in evaluation. */
const [few, many] = [2, 6];

type Context = "state" | "cut" | "whole";

const world = (context: Context, questions: number, seed: number): Environment => {
  const inner = ledger({ questions, seed });
  if (context === "state") return constantMemory(inner, { words: stateWords });
  return recentHistory(inner, { words: context === "cut" ? historyWords : 1000 });
};

/** Words that a copying policy can point at: the next word of its copy source, or all words of a page. */
interface Pointed {
  readonly kind: "kept" | "page" | "said" | "turn";
  readonly words: readonly string[];
  /** Written to end with. */
  readonly end: string;
  /** Words written since there was something to choose from. */
  readonly written: number;
}

const isWord = (word: string): boolean => /^[vn]\d$/.test(word);

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
  if (left > 1) return { kind: "turn", words: act.length === 0 ? ["next"] : [], end: "<end>", written: 0 };
  if (remembers) {
    const next = reply.slice(0, bar).filter(isWord)[act.length];
    return { kind: "said", words: next === undefined ? [] : [next], end: "<end>", written: 0 };
  }
  return { kind: "page", words: pages[act.length] ?? [], end: "<end>", written: 0 };
}

/**
 * A linear policy that can point at words, with an initial bias to copy: it repeats its state and its last reply, e³ times
 * as likely as stopping, and picks any word of a page. It has to learn, word by word, which words to keep.
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
      if (words.includes(word)) return kind === "kept" || kind === "said" ? 3 : 0;
      const mayEnd = kind !== "turn" || words.length === 0;
      return word === end && mayEnd ? 0 : -1e9;
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

const arm = (what: string, context: Context): Arm => ({
  what,
  grid: [10, 30].map((learningRate) => ({ learningRate })),
  async measure(choice, seed) {
    const { policy, counters, curve } = await trainInMemory({
      // the words of the longest tasks' prompts are in the vocabulary, though never seen in training
      environment: { ...world(context, few, seed), vocabulary: world(context, many, seed).vocabulary! },
      engine: reader(context === "state"),
      method: mem1.build({ ...plainAscent, tasks, groupSize, learningRate: Number(choice.learningRate) }),
      seed,
      iterations,
    });
    const measured = await Promise.all(
      [few, 4, many].map(async (questions) => {
        const { result, trajectories } = await evaluate({
          environment: world(context, questions, seed),
          agent: policy,
          split: "test",
          mode: "sampled",
          tasks: 32,
          random: randomStream(seed).split("measure"),
          limit: (work) => work(),
        });
        return { share: result.reward, peak: peak(trajectories) };
      }),
    );
    const [two, four, six] = measured;
    return {
      value: six!.share,
      cost: { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 },
      curve: curve.map((m) => m.reward ?? Number.NaN),
      more: {
        two: two!.share,
        four: four!.share,
        mean: mean(measured.map(({ share }) => share)),
        peakOfTwo: two!.peak,
        peakOfSix: six!.peak,
      },
    };
  },
});

export default defineCheck({
  id: "mem1",
  level: "table",
  claim:
    "Practised on tasks of two questions, a policy that rewrites a compact state answers more of six than one whose history is cut to as much context.",
  metric: "share of six questions answered after practice on two",
  direction: "higher",
  smallestEffect: 0.05,
  tuningSeeds: 1,
  notes:
    "A linear policy over what it can point at stands for a network, with a bias to copy in all arms; which words are values and which are chatter it has to learn. Values count in any order, so that whoever has forgotten the first of them is paid for the last. `whole` sees all of its history: what there is to be had at a prompt that grows with the task, as `peakOfTwo` and `peakOfSix` show, in tokens. Tried before, on other seeds: 30 and 40 iterations, 0.93 against 0.33.",
  baseline: arm("history cut to what fits", "cut"),
  method: arm("a state rewritten each turn", "state"),
  others: { whole: arm("all of the history", "whole") },
});
