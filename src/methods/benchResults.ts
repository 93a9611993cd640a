/**
 * What was found of a method outside its own check: in benches that compare methods in a shared world, and in arenas, where all
 * train the same transformer. `scripts/methods-doc.ts` collects it from the benches' pages and the arenas' runs.
 */
import type { Interval } from "../core/interval.ts";
import type { Level } from "../train/check.ts";
import data from "./benchResults.data.json" with { type: "json" };
import type { StoredEvidence } from "./evidence.ts";
import { opponentsOf } from "./opponents.ts";

/** A method against another one in one world of a bench. */
export interface BenchResult {
  /** Id of the method. */
  readonly method: string;
  /** Id of the method that it is paired with. */
  readonly opponent: string;
  /** The bench or the arena. */
  readonly bench: string;
  /** The page that shows it, from the repository's root. */
  readonly page: string;
  /** The part of the bench. */
  readonly world: string;
  readonly level: Level;
  /** What is compared, a share in [0, 1]. */
  readonly metric: string;
  /** Method − opponent, paired by seed, in [−1, 1]: higher is better. */
  readonly effect: Interval;
  /** Of the interval, two-sided. */
  readonly confidence: number;
  /** How the settings of both were chosen, in a few words. */
  readonly tuning: string;
  /** What a run of both cost, where it was counted. */
  readonly cost?: string;
  /** What a run of the method was given that the opponent was not; "" for nothing. */
  readonly asked?: string;
  /** Method − the weights that all begin from, where those were measured. */
  readonly start?: Interval;
  /** Method − plain imitation (SFT) in the same task, where the method was shown demonstrations and imitation ran. */
  readonly imitation?: Interval;
}

/** Of every method, the benches in the order of their pages. */
export const benchResults: readonly BenchResult[] = data as readonly BenchResult[];

/** @returns what was found of a method. */
export const benchResultsOf = (id: string): readonly BenchResult[] =>
  benchResults.filter(({ method }) => method === id);

/**
 * Which of the two is ahead: the one to whose side the whole interval lies. `equal`: they differ in no seed. `nothing learnt`: the
 * method is not shown to be better than the weights that it began from, so that its place says nothing of the method. Of two seeds
 * nothing is said: where both happen to differ by the same, their interval has no width.
 */
export type Standing = "nothing learnt" | "behind" | "equal" | "not told apart" | "ahead";
export const standings: readonly Standing[] = [
  "nothing learnt",
  "behind",
  "equal",
  "not told apart",
  "ahead",
];

export function standingOf({
  effect: { low, high, n },
  start,
}: Pick<BenchResult, "effect" | "start">): Standing {
  if (start && start.low <= 0) return "nothing learnt";
  if (low === 0 && high === 0) return "equal";
  if (n < 3) return "not told apart";
  return low > 0 ? "ahead" : high < 0 ? "behind" : "not told apart";
}

/** An effect in points of percent with its interval, as the leaderboard writes it. */
export function points({ mean, low, high }: Interval): string {
  const signed = (x: number): string => `${x > 0 ? "+" : ""}${(100 * x).toFixed(1)}`;
  return `${signed(mean)} [${signed(low)}, ${signed(high)}]`;
}

/** How checks name the baselines that they run, by the beginning of an arm's description. */
const baselines: Readonly<Record<string, RegExp>> = {
  grpo: /^(GRPO\b|group-relative policy optimisation)/,
  ppo: /^PPO whose steps are tokens/,
  "turn-ppo": /^PPO whose steps are turns/,
  dpo: /^DPO\b/,
  ipo: /^IPO\b/,
  "rejection-sampling": /^rejection-sampling fine-tuning/,
};

/** Whether the row of a method says that it beats this baseline: as its opponent, or as one of the arms that lack the ingredient. */
export function claimsToBeat(e: StoredEvidence, baseline: string): boolean {
  const { simpler, ingredient } = opponentsOf(e);
  const beaten = [
    ...(e.verdict === "reproduced" ? [e.baseline.what] : []),
    ...(simpler && ingredient === "matters" ? [simpler.what] : []),
  ];
  return beaten.some((what) => baselines[baseline]?.test(what));
}

const nameOf = (id: string): string => (/^(grpo|ppo|dpo|ipo)$/.test(id) ? id.toUpperCase() : id);

/**
 * What benches and arenas say of a method, a sentence for each.
 * @param e the method's evidence, if it has been checked: what does not bear it out is called so.
 * @param link writes a page.
 */
export function benchSentences(
  e: StoredEvidence | undefined,
  results: readonly BenchResult[],
  link: (page: string, text: string) => string = (page, text) => `${text} (${page})`,
): readonly string[] {
  const benches = Map.groupBy(results, ({ bench, opponent }) => `${bench} ${opponent}`);
  return [...benches.values()].map((found) => {
    const [{ bench, page, metric, confidence, tuning, cost, asked, imitation }] = found as [BenchResult];
    const parts = standings.flatMap((standing) => {
      const here = found.filter((result) => standingOf(result) === standing);
      const said = here.map(({ world, effect }) => `${points(effect)}${world === "" ? "" : ` in ${world}`}`);
      return here.length === 0 ? [] : [`${standing}: ${said.join("; ")}`];
    });
    const how = `${metric} in points, ${100 * confidence} % intervals, ${tuning}`;
    const beside = [
      cost,
      asked && `the method also asked for ${asked}`,
      imitation && `against plain imitation of demonstrations (sft): ${points(imitation)}`,
    ].flatMap((said) => said || []);
    return `${[`${verdictOf(e, found)}, in ${link(page, bench)} (${how})`, ...parts, ...beside].map(capital).join(". ")}.`;
  });
}

const capital = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;

/** Whether a bench bears out what the check says, in words. @param found at least one result, of one bench against one opponent. */
function verdictOf(e: StoredEvidence | undefined, found: readonly BenchResult[]): string {
  const [{ opponent, level }] = found as [BenchResult];
  const who = level === "neural" ? "A transformer" : level === "real" ? "A pretrained model" : "A comparison";
  if (e?.verdict !== "reproduced") return `${who} against ${nameOf(opponent)}`;
  const ahead = found.filter((result) => standingOf(result) === "ahead").length;
  const shown = ahead === found.length ? "shows" : ahead > 0 ? "shows only in part" : "does not show";
  return claimsToBeat(e, opponent)
    ? `${who} ${shown} that it beats ${nameOf(opponent)}`
    : `${who} ${shown} a gain over ${nameOf(opponent)}, which is not the opponent of its row`;
}
