import { sigmoid } from "../../../common/statistics/logistic.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import { pairRows } from "../../../common/tokens/pack.ts";
import { sampledTurn } from "../../../common/tokens/turns.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Message, Task, Trajectory, Turn, Unit } from "../../../core/types.ts";
import { processReward, readVerdict, type Verdict } from "./rewards.ts";

/** What a tool says about a step, and whether that agrees with the step. Undefined where it has nothing to say. */
export type Tool = (
  task: Task,
  step: Turn,
) => { readonly output: string; readonly agrees: boolean } | undefined;

/** What the policy is asked as verifier, after the step and what its tool says. */
export const verifierQuestion = "Is this step right ? RIGHT or WRONG , SURE or UNSURE";

/** Settings of {@link solverVerifier}. */
export interface SolverVerifierOptions {
  /** N, attempts at each task. */
  readonly groupSize: number;
  readonly temperature?: number;
  /** What the verifier can call. Default: nothing, so that it has its own word alone. */
  readonly tool?: Tool;
  /** Whether a step of low confidence is tried again from the critique, once in an attempt. */
  readonly repair: boolean;
  /** τ_c: confidence below which a step is low. */
  readonly threshold: number;
  /** C: what a repair costs at most. */
  readonly repairCost: number;
  /** λ_tool: what a call whose output is used is worth. */
  readonly toolReward: number;
  /** β_div: weight of the verdicts' divergence from the frozen model "reference", per nat. */
  readonly divergence: number;
  /** γ per step. */
  readonly discount: number;
  /** Whether the verifier's words are trained too. Default true. */
  readonly trainsVerifier?: boolean;
  /** Longest verdict, in tokens. Default 32. */
  readonly maxTokens?: number;
}

/** A verdict on one step, as a trajectory of its own. */
interface Checked extends Verdict {
  readonly said: Trajectory;
  readonly tool: ReturnType<Tool>;
  readonly nats: number;
}

/**
 * One policy solves and verifies. Each of N attempts at a task is verified step by step: the policy reads the step and what a tool says about it, and says
 * whether it is right and how sure it is. The first step of low confidence is tried again from the verdict, and what follows is played anew:
 *
 *     rp_t = λ_tool · r(tool_t) + score_t · conf_t − β_div · D_t          r_t = rp_t − g_t · C,   g_t = σ(10 (τ_c − conf_t))  where step t was repaired
 *     G = r_out + Σ_t γ^(t−1) r_t                                        r_out: the tool's word on the last step, or agreement with the majority's
 *
 * r(tool) is 1 where the tool spoke and the verdict says the same, −1 where the verdict says otherwise, 0 where it had nothing to say; D = ln π − ln π_reference of the verdict. Rewards
 * are called `process` and `final`; the environment's own are not read. Units: an attempt with the verdicts on it, grouped by task, so that both roles' words
 * have the advantage of G. Replaced steps and verdicts on them are discarded. Stats: `repaired`, share of attempts; `right`, share of verdicts that say so; `tool`,
 * share of steps about which the tool spoke.
 * Paper: "Agent0-VL: Exploring Self-Evolving Agent for Tool-Integrated Vision-Language Reasoning".
 */
export function solverVerifier(options: SolverVerifierOptions): Rollout {
  const { groupSize, trainsVerifier = true } = options;
  return async (ctx) => {
    const groups = await Promise.all(
      ctx.tasks.map(async (task) => {
        const tries = Array.from({ length: groupSize }, (_, i) => attempt(ctx, task, i, options));
        const made = (await Promise.all(tries)).filter((one) => one !== undefined);
        const most = majority(made.map(({ t }) => answerOf(t)));
        return made.map((one) => ({ ...one, t: paidFor(one, most, options) }));
      }),
    );
    const all = groups.flat();
    const checks = all.flatMap(({ checked }) => checked);
    return {
      trajectories: all.flatMap(({ t, checked }) => [t, ...checked.map(({ said }) => said)]),
      units: all.map(
        ({ t, checked }): Unit => ({
          ...{ id: t.id, group: t.task },
          members: [t.id, ...(trainsVerifier ? checked.map(({ said }) => said.id) : [])],
        }),
      ),
      stats: {
        ...(all.length > 0 && { repaired: mean(all.map(({ repaired }) => Number(repaired !== undefined))) }),
        ...(checks.length > 0 && {
          right: mean(checks.map(({ score }) => Number(score > 0))),
          tool: mean(checks.map(({ tool }) => Number(tool !== undefined))),
        }),
      },
    };
  };
}

interface Tried {
  readonly t: Trajectory;
  readonly checked: readonly Checked[];
  /** Step that was tried again, and the confidence before. */
  readonly repaired?: { readonly turn: number; readonly confidence: number };
}

async function attempt(
  ctx: Ctx,
  task: Task,
  i: number,
  options: SolverVerifierOptions,
): Promise<Tried | undefined> {
  const { groupSize, temperature, threshold, repair } = options;
  const warmth = temperature === undefined ? {} : { temperature };
  const [first] = await ctx.play({ task: task.id, attempt: i, together: groupSize, ...warmth });
  if (!first || first.end.kind === "failed" || first.turns.length === 0) return undefined;
  const checked = await verdictsOn(ctx, task, first, 0, options);
  const turn = checked.findIndex(({ confidence }) => confidence < threshold);
  if (!repair || turn < 0) return { t: first, checked };
  const low = checked[turn]!;
  const [again] = await ctx.play({
    ...{ task: task.id, attempt: groupSize + i, ...warmth },
    from: { trajectory: first, turn, why: "retry" },
    advice: critiqueOf(first.turns[turn]!, low),
  });
  if (!again || again.end.kind === "failed" || again.turns.length <= turn) return { t: first, checked };
  const lost = [...first.turns, ...checked.flatMap(({ said }) => said.turns)];
  const kept = checked.slice(0, turn);
  ctx.count(
    "tokens.discarded",
    tokensOf(lost) - tokensOf([...first.turns.slice(0, turn), ...kept.flatMap(({ said }) => said.turns)]),
  );
  return {
    t: again,
    checked: [...kept, ...(await verdictsOn(ctx, task, again, turn, options))],
    repaired: { turn, confidence: low.confidence },
  };
}

/** What the solver is told before it tries a step again: the step, the verdict, and what the tool said. */
const critiqueOf = ({ action }: Turn, { said, tool }: Checked): string =>
  [action.content.trim(), said.turns[0]!.action.content.trim(), tool?.output ?? ""].join("\n").trim();

const tokensOf = (turns: readonly Turn[]): number =>
  turns.reduce((sum, { tokens }) => sum + (tokens?.action.length ?? 0), 0);
const answerOf = ({ turns }: Trajectory): string => turns.at(-1)!.action.content.trim();

/** The most frequent answer, of equally frequent ones the first. */
function majority(answers: readonly string[]): string | undefined {
  const counts = [...Map.groupBy(answers, (answer) => answer)];
  const most = Math.max(0, ...counts.map(([, { length }]) => length));
  return counts.find(([, { length }]) => length === most)?.[0];
}

/** The attempt with its rewards. */
function paidFor(
  { t, checked, repaired }: Tried,
  most: string | undefined,
  options: SolverVerifierOptions,
): Trajectory {
  const { discount, threshold, repairCost } = options;
  const last = checked.at(-1)?.tool;
  const final = Number(last ? last.agrees : answerOf(t) === most);
  const turns = t.turns.map((turn, k): Turn => {
    const gate = repaired?.turn === k ? sigmoid(10 * (threshold - repaired.confidence)) : 0;
    const process = discount ** k * (processReward(checked[k]!, options) - gate * repairCost);
    return { ...turn, rewards: { ...turn.rewards, process, ...(k === t.turns.length - 1 && { final }) } };
  });
  return { ...t, turns };
}

/** What the policy says as verifier about the steps from one on. */
async function verdictsOn(
  ctx: Ctx,
  task: Task,
  t: Trajectory,
  from: number,
  { tool, temperature = 1, maxTokens = 32 }: SolverVerifierOptions,
): Promise<Checked[]> {
  const model = ctx.model();
  const asked = t.turns.slice(from).map((step, k) => {
    const called = tool?.(task, step);
    const question: Message = {
      role: "user",
      content: `${called?.output ?? ""}\n${verifierQuestion}`.trim(),
    };
    const messages = [...step.prompt, step.action, question];
    const id = `${t.id}/verdict ${from + k}`;
    return {
      id,
      called,
      messages,
      prompt: model.codec.open(messages),
      seed: ctx.random.split("verdict", id).seed,
    };
  });
  const samples = await model.sample(
    asked.map(({ prompt, seed }) => {
      const room = Math.max(1, Math.min(maxTokens, model.contextTokens - prompt.length));
      return { prompt, maxTokens: room, temperature, seed };
    }),
  );
  const rows = pairRows(samples.map(({ action }, k) => ({ prompt: asked[k]!.prompt, target: action })));
  const { logp } = await ctx.frozen("reference").score(rows);
  ctx.count("generations", samples.length);
  const sum = (xs: Float32Array): number => xs.reduce((a, b) => a + b, 0);
  return samples.map((sample, k) => {
    const { id, called, messages, prompt } = asked[k]!;
    ctx.count("tokens.sampled", sample.action.length);
    const turn = sampledTurn({
      ...{ model: { id: "policy", codec: model.codec }, role: "verifier" },
      ...{ prompt, messages, sample },
    });
    const said: Trajectory = {
      ...{ id, task: task.id, episode: t.episode, role: "verifier", turns: [turn] },
      ...{ end: { kind: "done", reason: "said" }, origin: "sampled" },
    };
    const reference = sum(logp.subarray(rows.targetOffset[k], rows.targetOffset[k + 1]));
    return { ...readVerdict(turn.action.content), said, tool: called, nats: sum(sample.logp) - reference };
  });
}
