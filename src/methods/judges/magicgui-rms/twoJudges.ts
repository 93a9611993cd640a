import { z } from "zod";
import type { Ctx, Helper } from "../../../core/context.ts";
import { type Able, evaluatorIn, totalScore } from "../../../core/evaluator.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Trajectory, Turn } from "../../../core/types.ts";
import { ofMembers } from "../../../rollout/addedRows.ts";
import { withCorrections } from "../../../rollout/withCorrections.ts";
import type { JudgedStep } from "./stepJudge.ts";

/** A step with what is said of it: 1 right, 0 wrong. */
export interface LabelledStep extends JudgedStep {
  readonly label: 0 | 1;
}

/** Settings of {@link twoJudges}. */
export interface TwoJudgesOptions {
  /** The general judge: scores an attempt by its last action, right from ½. */
  readonly general: Able<"score">;
  /** What the judge of the domain is fitted to at first. */
  readonly beginning: (ctx: Ctx) => Promise<readonly LabelledStep[]>;
  /** Share of the steps on which the general judge is asked, in [0, 1]; 0: the judge of the domain decides alone. */
  readonly asked: number;
  /** Whether steps on which the two disagree teach the judge of the domain. */
  readonly reflux: boolean;
  /** Largest number of such steps that are kept; the oldest go first. */
  readonly most: number;
  /** Name of the judge of the domain among the helpers. Default "domain". */
  readonly helper?: string;
}

const memoryKey = "two judges";
const stepSchema = z.object({ seen: z.string(), action: z.string(), label: z.literal([0, 1]) });
const stateSchema = z.object({ beginning: z.array(stepSchema), hard: z.array(stepSchema) });

/** What is to be learnt from a step, given what the judges say of it; `general` undefined where it was not asked. */
export interface Verdicts {
  readonly domain: boolean;
  readonly general: boolean | undefined;
}

/**
 * What becomes of a step:
 *
 *     both say right                  imitate it
 *     both say wrong                  look for a correction
 *     they disagree                   the general judge is believed, and the step teaches the judge of the domain
 *     the general judge is not asked  the judge of the domain is believed
 */
export function arbitrated({ domain, general }: Verdicts): {
  readonly right: boolean;
  readonly teaches: boolean;
} {
  return { right: general ?? domain, teaches: general !== undefined && general !== domain };
}

/** A step of an attempt. */
interface Step extends JudgedStep {
  readonly turn: Turn;
  /** The attempt, up to this step. */
  readonly until: Trajectory;
}

/**
 * Extends a rollout by what two judges say of its steps, as rows to imitate. A judge of the domain says whether each action is right where it
 * was taken, and a general judge is asked about a share of them; see {@link arbitrated}. Where an action is called wrong, the judge of the
 * domain proposes the action that it thinks most of among those that were ever taken; where the general judge was asked, the proposal counts
 * only if that calls it right as well. Then the judge of the domain is fitted anew to its beginning and to the steps on which it was overruled.
 *
 *     rows: (s, a) for a right action,   (s, a′) for a wrong one with an accepted correction a′ ≠ a;   weight 1 each
 *
 * It never learns from its own verdicts alone. Where the general judge fails, nothing is learnt from the step.
 *
 * Stats: agreed, share of asked steps on which both say the same; corrected, share of steps that are called wrong and get a correction.
 * Paper: "MagicGUI-RMS: A Multi-Agent Reward Model System for Self-Evolving GUI Agents via Automated Feedback Reflux".
 */
export function twoJudges(rollout: Rollout, options: TwoJudgesOptions): Rollout {
  const { general, beginning, asked, reflux, most, helper = "domain" } = options;
  return async (ctx) => {
    const own = await rollout(ctx);
    const domain = ctx.helper<JudgedStep>(helper);
    const known = ctx.memory.get(memoryKey);
    const state = known
      ? stateSchema.parse(known)
      : { beginning: [...(await beginning(ctx))], hard: [] as LabelledStep[] };
    if (!known) await taught(domain, state.beginning);
    const steps = ofMembers(own, (t) => stepsOf(t));
    const actions = [...new Set([...state.beginning, ...steps].map(({ action }) => action))];
    const judge = evaluatorIn(ctx, general);
    const says = async (until: Trajectory, key: string): Promise<boolean | undefined> => {
      const stream = ctx.random.split("general", until.id, until.turns.length, key);
      const scores = await judge.score(until, stream);
      return scores && totalScore(scores) >= 0.5;
    };
    const opinions = await domain.predict(steps);
    const seen = await Promise.all(
      steps.map(async (step, i): Promise<Learnt> => {
        const { until, action } = step;
        const isAsked = ctx.random.split("asked", until.id, until.turns.length).next() < asked;
        const general = isAsked ? await says(until, "action") : undefined;
        const verdicts = { domain: opinions[i]! >= 0.5, general };
        if (isAsked && general === undefined) return { verdicts };
        const { right, teaches } = arbitrated(verdicts);
        const hard = teaches ? { hard: { ...labelled(step), label: right ? 1 : 0 } as const } : {};
        if (right) return { verdicts, right, target: action, ...hard };
        const better = await proposed(domain, step, actions);
        const accepted =
          better !== undefined && (!isAsked || (await says(replaced(until, better), "correction")) === true);
        return { verdicts, right, ...(accepted ? { target: better } : {}), ...hard };
      }),
    );
    if (reflux) {
      const hard = [...state.hard, ...seen.flatMap((one) => one.hard ?? [])].slice(-most);
      ctx.memory.set(memoryKey, { beginning: state.beginning, hard } as never);
      await taught(domain, [...state.beginning, ...hard]);
    } else ctx.memory.set(memoryKey, state as never);
    const targets = new Map(steps.map(({ turn }, i) => [turn, seen[i]!.target]));
    const rows = await withCorrections(async () => own, { correction: (turn) => targets.get(turn) })(ctx);
    return { ...rows, stats: { ...own.stats, ...statsOf(seen) } };
  };
}

/** What was learnt from a step. */
interface Learnt {
  readonly verdicts: Verdicts;
  readonly right?: boolean;
  /** What to do there. */
  readonly target?: string;
  readonly hard?: LabelledStep;
}

const labelled = ({ seen, action }: JudgedStep): JudgedStep => ({ seen, action });

const stepsOf = (t: Trajectory): readonly Step[] =>
  t.turns.map((turn, k) => ({
    turn,
    seen: turn.prompt.at(-1)?.content ?? "",
    action: turn.action.content.trim(),
    until: { ...t, turns: t.turns.slice(0, k + 1) },
  }));

/** The same attempt with another last action. */
const replaced = (t: Trajectory, content: string): Trajectory => ({
  ...t,
  turns: t.turns.map((turn, k) =>
    k < t.turns.length - 1 ? turn : { ...turn, action: { role: "assistant", content } },
  ),
});

/** The action that the judge of the domain thinks most of, if it calls it right and it is another one. */
async function proposed(
  domain: Helper<JudgedStep, number, number>,
  { seen, action }: JudgedStep,
  actions: readonly string[],
): Promise<string | undefined> {
  const others = actions.filter((other) => other !== action);
  const chances = await domain.predict(others.map((other) => ({ seen, action: other })));
  const best = chances.indexOf(Math.max(...chances));
  return best >= 0 && chances[best]! >= 0.5 ? others[best] : undefined;
}

const taught = (domain: Helper<JudgedStep, number, number>, steps: readonly LabelledStep[]) =>
  domain.fit(steps.map(({ seen, action, label }) => ({ x: { seen, action }, y: label, weight: 1 })));

function statsOf(seen: readonly Learnt[]): Record<string, number> {
  const both = seen.filter(({ verdicts }) => verdicts.general !== undefined);
  const wrong = seen.filter(({ right }) => right === false);
  const share = (part: readonly Learnt[], all: readonly Learnt[]): number => part.length / all.length;
  const agreed = both.filter(({ verdicts }) => verdicts.general === verdicts.domain);
  const corrected = wrong.filter(({ target }) => target !== undefined);
  return {
    ...(both.length > 0 && { agreed: share(agreed, both) }),
    ...(wrong.length > 0 && { corrected: share(corrected, wrong) }),
  };
}
