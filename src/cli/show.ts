/** `whetstone show`: one run: curves, evaluations, transcripts with credit. */
import type { Command } from "commander";
import { mean } from "../common/statistics/statistics.ts";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import { healthOf } from "../diagnose/health/health.ts";
import { computedInWords } from "../serve/dashboard/computed.ts";
import { spellingOf } from "../serve/spelling.ts";
import { errorOf, type Metric, type Run, type RunStore, type TrajectoryFilter } from "../store/runStore.ts";
import { splitName } from "../train/splits.ts";
import { curve } from "./chart.ts";
import { recordedEstimate } from "./estimateLine.ts";
import { healthLines } from "./healthLines.ts";
import { statedNumber } from "./numbers.ts";
import { addCommand, folded, type Io, interval, number, paint, roomOf, table } from "./output.ts";
import { existingStore, requireRun, storeOption } from "./runs.ts";
import { transcript, turnsAsData } from "./transcript.ts";

interface ShowOptions {
  readonly store: string;
  readonly iteration?: string;
  readonly episode?: string;
  readonly failed?: true;
  readonly metric: string[];
  readonly limit: string;
}

export function addShow(program: Command, io: Io): void {
  addCommand(program, "show", "Show a run: curves, evaluations, transcripts with credit.", [
    "whetstone show facts-grpo-1",
    "whetstone show facts-grpo-1 --iteration 12",
    "whetstone show facts-grpo-1 --failed --limit 3",
    "whetstone show facts-grpo-1 --episode 12/capital-of-peru",
    "whetstone show facts-grpo-1 --metric entropy --metric gradientNorm",
  ])
    .argument("<run>", "the run's id, the beginning of its id, or its folder")
    .option(...storeOption)
    .option("--iteration <n>", "transcripts of this iteration, from 0")
    .option("--episode <id>", "the transcript whose id begins with this text")
    .option("--failed", "transcripts of episodes that failed or did not succeed")
    .option(
      "--metric <name>",
      "curve of this metric; may be repeated",
      (v: string, all: string[]) => [...all, v],
      [],
    )
    .option("--limit <n>", "maximum number of transcripts", "4")
    .action(async (name: string, options: ShowOptions) => {
      statedNumber("--limit", options.limit, 1);
      const store = await existingStore(options.store);
      try {
        const run = await requireRun(store, name);
        const wantsTranscripts = options.iteration ?? options.episode ?? options.failed;
        if (wantsTranscripts === undefined || options.metric.length > 0)
          await showRun(store, run, options, io);
        if (wantsTranscripts !== undefined || options.metric.length === 0)
          await showTranscripts(store, run, options, io);
      } finally {
        await store.close();
      }
    });
}

/** What play brought; of a run that learnt from examples without playing, the first loss. */
function usual(names: readonly string[]): readonly string[] {
  const play = ["success", "reward"].filter((name) => names.includes(name));
  return play.length > 0 ? play : names.filter((name) => name.endsWith(".loss")).slice(0, 1);
}

async function showRun(store: RunStore, run: Run, options: ShowOptions, io: Io): Promise<void> {
  const metrics = await store.metrics(run.id);
  const evaluations = await store.evaluations(run.id);
  io.record({ type: "run", ...run });
  for (const [iteration, values] of byIteration(metrics))
    io.record({ type: "iteration", iteration, ...values });
  for (const e of evaluations) io.record({ type: "evaluation", ...e });

  io.say(
    paint(io, "bold", run.name),
    ...folded(
      io,
      `${run.method} on ${run.env}, ${computedInWords(run)}, seed ${run.seed}: ${run.state}, in ${run.folder}`,
    ),
  );
  const names = [...new Set(metrics.map((m) => m.name))];
  for (const asked of options.metric) {
    if (names.includes(asked)) continue;
    throw unknownName("--metric", asked, names);
  }
  const wanted = options.metric.length > 0 ? options.metric : usual(names);
  for (const name of wanted) {
    const values = metrics.filter((m) => m.name === name).map((m) => m.value);
    io.say(
      "",
      `${name}, ${values.length} iterations`,
      ...curve(values, Math.min(io.width, 90)).map((l) => paint(io, "cyan", l)),
    );
  }
  const behind = staleness(metrics);
  if (behind !== undefined) io.say("", ...folded(io, behind));
  const cost = recordedEstimate(metrics);
  if (cost !== undefined) io.say("", ...folded(io, cost));
  if (options.metric.length === 0 && names.length > wanted.length) {
    const others = names.filter((n) => !wanted.includes(n));
    const more = folded(io, `--metric shows the others: ${others.join(", ")}`);
    io.say("", ...more.map((line) => paint(io, "dim", line)));
  }
  const report = await healthOf(store, run.id);
  io.record({ type: "health", ...report });
  if (evaluations.length > 0) {
    const rows = evaluations.map((e) => [
      e.when === "during" ? `after ${e.iteration}` : e.when,
      splitName(e.split, e.trainedShare),
      e.mode,
      interval(e.success),
      number(e.reward),
      number(e.turns),
      String(e.success.n),
    ]);
    io.say(
      "",
      ...table(["when", "split", "actions", "success %", "reward", "turns", "tasks"], rows, roomOf(io)),
    );
  }
  const error = errorOf(run);
  if (error !== undefined) io.say("", ...folded(io, `The run failed. ${error}`));
  io.say("", ...healthLines(report, io));
}

/** How old the samples were that a run learnt from, where rollouts ran ahead of learning. */
function staleness(metrics: readonly Metric[]): string | undefined {
  const of = (name: string): number[] => metrics.filter((m) => m.name === name).map((m) => m.value);
  const [lags, steps, weights, cut] = [
    "staleness",
    "staleness.steps",
    "importance",
    "importance.truncated",
  ].map(of);
  if (!lags?.length || !steps) return undefined;
  const corrected =
    weights && cut && weights.length > 0
      ? `; importance weights ${mean(weights).toFixed(3)} in the mean, ${(100 * mean(cut)).toFixed(1)} % of the tokens at the cap`
      : "";
  return `staleness: ${mean(lags).toFixed(1)} iterations in the mean, ${Math.max(...lags)} at most (${Math.max(...steps)} steps)${corrected}`;
}

function byIteration(metrics: readonly Metric[]): Map<number, Record<string, number>> {
  const out = new Map<number, Record<string, number>>();
  for (const { iteration, name, value } of metrics) {
    const row = out.get(iteration) ?? {};
    row[name] = value;
    out.set(iteration, row);
  }
  return out;
}

async function showTranscripts(store: RunStore, run: Run, options: ShowOptions, io: Io): Promise<void> {
  const asked = options.iteration ?? options.episode ?? options.failed;
  const filter: TrajectoryFilter = {
    ...(options.iteration !== undefined && { iteration: statedNumber("--iteration", options.iteration) }),
    ...(options.episode !== undefined && { id: options.episode }),
    ...(options.failed && { failed: true }),
  };
  const all = await store.trajectories(run.id, filter);
  if (all.length === 0 && asked !== undefined) {
    const kept = await store.trajectories(run.id);
    const iterations = kept.map((t) => t.iteration);
    throw new WhetstoneError("task.none", {
      where: "show",
      got: "no matching transcript",
      expected:
        kept.length === 0
          ? "a run with stored transcripts"
          : `iterations from ${Math.min(...iterations)} to ${Math.max(...iterations)}, ids such as ${kept[0]!.id}`,
      fix: "Remove a filter. Of old iterations, only failures and one transcript in a hundred are stored.",
    });
  }
  // the newest tell most about the agent as it is
  const most = asked === undefined ? 1 : statedNumber("--limit", options.limit, 1);
  const chosen =
    options.episode !== undefined || options.iteration !== undefined ? all.slice(0, most) : all.slice(-most);
  const spell = io.terminal ? await spellingOf(run.folder) : undefined;
  for (const t of chosen) {
    const stored = await store.trajectory(run.id, { iteration: t.iteration, phase: t.phase, id: t.id });
    if (stored === undefined) continue;
    const { trajectory, advantage, ...about } = stored;
    io.record({ type: "transcript", ...about, turns: turnsAsData(trajectory.turns, advantage) });
    io.say(
      "",
      paint(io, "bold", `${t.phase}, iteration ${t.iteration}: ${t.id}`),
      ...transcript(stored, io, spell),
    );
  }
  if (chosen.length < all.length) {
    io.say(
      "",
      paint(
        io,
        "dim",
        `${all.length - chosen.length} more; --limit, --iteration, --episode, --failed choose.`,
      ),
    );
  }
}
