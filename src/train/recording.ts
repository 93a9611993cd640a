/** Records iterations and evaluations, and ends a run in which every episode fails. */
import { counted } from "../common/text/counted.ts";
import { WhetstoneError } from "../core/errors.ts";
import { isLogged } from "../core/trainingExamples.ts";
import type { Stats, Trajectory } from "../core/types.ts";
import { currentArtefact, proposedArtefacts } from "./artefacts.ts";
import type { Assembly } from "./assembly.ts";
import type { RunSettings } from "./config.ts";
import { estimateIteration, peakMemory } from "./estimate.ts";
import { average, evaluate } from "./evaluate.ts";
import { lostJudgements } from "./evaluatorWarnings.ts";
import type { RunEvent } from "./events.ts";
import { requireSmallGap } from "./logpGap.ts";
import { metricsOf } from "./metrics.ts";
import type { Iteration, Run } from "./running.ts";
import type { RunState } from "./state.ts";

/** Consecutive iterations in which every episode fails, after which a run stops. */
const patience = 3;

/** Iterations whose cost is compared with the estimate: programs for new shapes are compiled in the first. */
const compared = 3;

/** Stores newly proposed artefact versions, with the time. */
function artefactKeeper({ state, records }: Assembly): () => Promise<void> {
  const stored = new Set<string>();
  return async () => {
    for (const version of proposedArtefacts(state)) {
      if (stored.has(version.id)) continue;
      await records.store.artefacts.add({ ...version, created: Date.now() });
      stored.add(version.id);
    }
  };
}

export function recordingOf(assembly: Assembly): Pick<Run, "commit" | "evaluate"> {
  const keepArtefacts = artefactKeeper(assembly);
  const failing = failureWatch(assembly);
  const judgements = lostJudgements(assembly.state, assembly.report);
  const took: number[] = [];
  return {
    async commit(done) {
      const { settings, state, policy, records, report, journal } = assembly;
      const { experience, advantages } = done;
      const metrics = {
        ...metricsOf(done, state, journal?.found),
        ...spendOf(settings.engine),
        ...costOf(state),
      };
      requireSmallGap(done.stats);
      requireActions(experience.trajectories, settings, "training");
      failing(experience.trajectories);
      judgements();
      await records.store.saveIteration(settings.name, state.iteration - 1, {
        metrics,
        trajectories: experience.trajectories.flatMap((trajectory) => {
          if (isLogged(trajectory.task)) return [];
          const advantage = advantages.get(trajectory.id);
          return [{ trajectory, phase: "train", ...(advantage ? { advantage } : {}) }];
        }),
      });
      await keepArtefacts();
      const event = iterationEvent(assembly, done, metrics);
      report(event);
      took.push(event.seconds);
      if (took.length === Math.min(compared, settings.iterations)) reportEstimate(assembly, average(took));
      await assembly.onIteration?.(done, state, policy);
    },

    evaluate: (...asked) => measured(assembly, keepArtefacts, ...asked),
  };
}

/** Counts iterations in which every episode failed. @throws WhetstoneError `environment.broken` where that goes on. */
function failureWatch({ settings, state, report }: Assembly): (played: readonly Trajectory[]) => void {
  let allFailed = 0;
  return (played) => {
    const { iteration } = state;
    const broken = played.map((t) => t.end).filter((end) => end.kind === "failed");
    allFailed = broken.length > 0 && broken.length === played.length ? allFailed + 1 : 0;
    if (allFailed > 0 && (iteration === 1 || allFailed >= patience)) {
      const when = `iteration ${iteration}`;
      throw nothingPlayed(settings.environment.name, when, broken.length, broken[0]!.message);
    }
    if (broken.length === 0) return;
    const episodes = `${broken.length} of ${counted(played.length, "episode")} failed`;
    report({
      type: "warning",
      message: `iteration ${iteration}: ${episodes} and were left out; the first: ${broken[0]!.message}`,
    });
  };
}

/** An evaluation shorter than so many seconds promises an iteration that needs no estimate. */
const untold = 2;

/** The process's memory beside what was estimated, for runs with an estimate. */
const costOf = ({ estimate }: RunState): Stats =>
  estimate
    ? { "estimate.seconds": estimate.seconds, "estimate.memory": estimate.bytes, memory: peakMemory() }
    : {};

/** @param took seconds of the iterations so far, in the mean. */
function reportEstimate({ settings, state, report, clock }: Assembly, took?: number): void {
  const { estimate } = state;
  if (!estimate) return;
  const { iterations, budgetSeconds = Number.POSITIVE_INFINITY } = settings;
  const left = (budgetSeconds - clock.trained()) / (took ?? estimate.seconds);
  report({
    type: "estimate",
    ...estimate,
    iterations: Math.min(iterations, state.iteration + Math.max(0, Math.ceil(left))),
    ...(took !== undefined && { came: { seconds: took, bytes: peakMemory() } }),
  });
}

function iterationEvent(
  { settings, state, clock }: Assembly,
  done: Iteration,
  metrics: Stats,
): Extract<RunEvent, { type: "iteration" }> {
  const { iterations, budgetSeconds = Number.POSITIVE_INFINITY } = settings;
  const { iteration } = state;
  const left = (clock.trained() / iteration) * (iterations - iteration);
  const { rollout, update } = done.seconds;
  return {
    type: "iteration",
    iteration,
    iterations,
    reward: metrics.reward ?? Number.NaN,
    success: metrics.success ?? Number.NaN,
    turns: metrics.turns ?? Number.NaN,
    tokensPerSecond: metrics.tokensPerSecond ?? 0,
    // async rollouts take no time of their own
    seconds: (metrics["seconds.waited"] ?? rollout) + update,
    secondsLeft: Math.max(0, Math.min(left, budgetSeconds - clock.trained())),
    metrics,
  };
}

/** Evaluates the policy with its current artefact, and records the result. */
async function measured(
  assembly: Assembly,
  keepArtefacts: () => Promise<void>,
  ...[split, mode, count, when]: Parameters<Run["evaluate"]>
): ReturnType<Run["evaluate"]> {
  const { settings, state, policy, records, report, random, limit, clock, stop } = assembly;
  const { environment, name } = settings;
  const began = performance.now();
  const version = currentArtefact(state);
  const { result, outcomes, trajectories } = await evaluate({
    environment,
    agent: policy,
    split,
    mode,
    tasks: count,
    trainedShare: settings.trainedShares[split] ?? 0,
    random,
    limit,
    stop,
    ...(version ? { artefact: version.artefact } : {}),
  });
  requireActions(trajectories, settings, `the evaluation on "${split}"`);
  const broken = trajectories.map(({ end }) => end).find((end) => end.kind === "failed");
  if (broken && when === "before" && result.failed === result.tasks) {
    throw nothingPlayed(environment.name, `the first evaluation on "${split}"`, result.tasks, broken.message);
  }
  if (broken) {
    const failed = `${result.failed} of ${counted(result.tasks, "episode")} failed and were left out`;
    report({ type: "warning", message: `evaluation on "${split}": ${failed}; the first: ${broken.message}` });
  }
  await keepArtefacts();
  if (version) {
    await records.store.artefacts.measure({
      id: `${name}/${when}/${state.iteration}/${split}/${mode}`,
      artefact: version.id,
      where: `${environment.name}/${split}`,
      run: name,
      success: result.success,
      at: Date.now(),
    });
  }
  const played = trajectories.filter((t) => !isLogged(t.task));
  const examples = when === "during" ? [] : played.slice(0, 20);
  await records.store.saveEvaluation(
    name,
    { when, iteration: state.iteration, ...result, outcomes },
    examples.map((t) => ({ trajectory: { ...t, id: `${when}/${t.id}` }, phase: when })),
  );
  const first = when === "before" && state.before.length === 0;
  const estimate = first ? await estimateIteration(assembly, trajectories, result.seconds) : undefined;
  if (estimate && "seconds" in estimate) state.estimate = estimate;
  // the budget is one of training
  if (when === "before") clock.leaveOut(performance.now() - began);
  report({ type: "evaluation", when, iteration: state.iteration, ...result });
  if (first) reportEstimate(assembly);
  if (estimate && "why" in estimate && result.seconds >= untold) report({ type: "no-estimate", ...estimate });
  return result;
}

/** Calls to providers and their cost so far, if the engine has a provider. */
function spendOf(engine: Pick<RunSettings["engine"], "spent">): Stats {
  const spent = engine.spent?.();
  if (!spent) return {};
  const { calls, cachedCalls, inputTokens, outputTokens, usd } = spent;
  return {
    "spent.calls": calls,
    "spent.cachedCalls": cachedCalls,
    "spent.tokens": inputTokens + outputTokens,
    "spent.usd": usd,
  };
}

function nothingPlayed(name: string, when: string, count: number, first: string): WhetstoneError {
  const where = `environment "${name}"`;
  const got = `all ${counted(count, "episode")} of ${when} failed`;
  const fix = "Run `whetstone validate` to find the cause; once it is fixed, continue with --resume.";
  return new WhetstoneError("environment.broken", {
    ...{ where, got, expected: "episodes that end", fix },
    said: `${where}: ${got}, the first with: ${first.replace(/\.$/, "")}. ${fix}`,
  });
}

/** @throws WhetstoneError `context.tooLong` where every episode was cut off before its first action. */
function requireActions(
  trajectories: readonly Trajectory[],
  { contextTokens, environment }: Pick<RunSettings, "contextTokens" | "environment">,
  when: string,
): void {
  const cut = trajectories.flatMap(({ turns, end }) =>
    turns.length === 0 && end.kind === "truncated" && end.limit === "tokens" ? [end.at] : [],
  );
  if (cut.length === 0 || cut.length < trajectories.length) return;
  throw new WhetstoneError("context.tooLong", {
    where: `environment "${environment.name}", ${when}`,
    got: `prompts of ${Math.min(...cut)} tokens or more, which fill the context of ${contextTokens} before the first action`,
    expected: "prompts that leave room for an action",
    fix: `Set --context-tokens above ${Math.max(...cut)}.`,
  });
}
