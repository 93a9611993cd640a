/** `whetstone judge STORE --live`: judges a sample of what is served, as it comes, and stores the scores as feedback. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import type { Spend } from "../core/chat.ts";
import { randomStream } from "../core/random.ts";
import type { ReceivedSignal, ServedResponse } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { EnsembleRule } from "../evaluator/ensemble.ts";
import { type CallOutcome, type JudgeCall, judgeCalls } from "../evaluator/judgeCall.ts";
import { type NamedItem, type ScoredItem, scoreItems } from "../evaluator/scoreItems.ts";
import { type Judgeable, stratified } from "../evaluator/stratified.ts";
import { answeredTurns, loggedTrajectory } from "../exchange/logged.ts";
import { type ServedSession, servedSessions } from "../exchange/sessions.ts";
import { orderedId } from "../serve/orderedId.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { spendLine } from "./chat.ts";
import { seconds } from "./durations.ts";
import { onSignal } from "./interrupted.ts";
import { named } from "./judgeSource.ts";
import { type JudgePanel, judgeVersion } from "./judges.ts";
import { statedNumber } from "./numbers.ts";
import { folded, type Io, number } from "./output.ts";
import { withTrafficStore } from "./trafficStore.ts";
import { time } from "./versionText.ts";

/** Flags of the command for what is served. */
export interface LiveFlags {
  readonly live?: true;
  readonly hourly: string;
  readonly every: string;
  readonly quiet: string;
  readonly within: string;
  readonly channel: string;
  readonly once?: true;
}

export const addLiveOptions = (command: Command): Command =>
  command
    .option(
      "--live",
      "for a traffic store: judge what is served as it comes, and store each score as feedback",
    )
    .option("--hourly <n>", "with --live: most judgements an hour; versions and feedback take turns", "60")
    .option("--quiet <duration>", "with --live: judge a conversation this long after its last call", "5m")
    .option("--within <duration>", "with --live: how old a conversation may be at the start", "1d")
    .option("--every <duration>", "with --live: time between looks at the store", "30s")
    .option("--channel <name>", "with --live: channel of the scores", "judge")
    .option("--once", "with --live: look once, judge, and exit");

/** What the flags say. @throws WhetstoneError `option.range`. */
export const liveSettings = (
  flags: LiveFlags,
): Pick<LiveWork, "hourly" | "every" | "quiet" | "within" | "channel" | "once"> => ({
  hourly: statedNumber("--hourly", flags.hourly, 1),
  every: seconds("--every", flags.every),
  quiet: seconds("--quiet", flags.quiet),
  within: seconds("--within", flags.within),
  channel: flags.channel,
  once: flags.once === true,
});

/** How served sessions are judged. */
export interface LiveWork {
  readonly store: string;
  readonly panel: JudgePanel;
  readonly rule: EnsembleRule;
  readonly seed: number;
  readonly timeoutSeconds: number;
  readonly concurrency: number;
  /** Most judgements in an hour, over restarts too. */
  readonly hourly: number;
  /** Seconds between looks, seconds without a call after which a trajectory is judged, and seconds of age up to which. */
  readonly every: number;
  readonly quiet: number;
  readonly within: number;
  readonly channel: string;
  readonly once: boolean;
}

/** A trajectory that waits for its judgement. */
interface Waiting extends Judgeable {
  readonly session: Id;
  /** Its last answered response, which the judgement is about. */
  readonly response: Id;
  /** Times that it was asked in vain. */
  readonly failures: number;
}

/** Most trajectories that wait, and times that one is asked. */
const most = { waiting: 10_000, tries: 3 } as const;
const hour = 3_600_000;

export async function judgeLive(work: LiveWork, io: Io): Promise<void> {
  folded(io, livePlan(work)).forEach(io.error);
  const control = new AbortController();
  const off = onSignal(() => {
    io.error("Ending after the running judgements. Press Ctrl-C again to end at once.");
    control.abort();
  });
  const { timeoutSeconds, concurrency, every } = work;
  // running calls are not cut off by a Ctrl-C: they are paid for, and their scores are kept
  const running = new AbortController().signal;
  const { judges, spent } = work.panel.ready(running, { timeoutSeconds, concurrency, againSeconds: every });
  const counts: Partial<Record<CallOutcome, number>> = {};
  let lost: string | undefined;
  let ended: JudgeCall | undefined;
  /** Looks in a row in which the provider was gone. */
  let outages = 0;
  try {
    await withTrafficStore(
      work.store,
      async (production) => {
        const queue = liveQueue(production, work);
        while (!control.signal.aborted) {
          const chosen = await queue.next();
          const unasked: JudgeCall[] = [];
          await scoreItems(judges, itemsOf(production, chosen, control.signal), {
            random: randomStream(work.seed),
            // anew with each look: a provider that was gone may be back
            ...{ rule: work.rule, call: judgeCalls({ timeoutSeconds }), most: concurrency },
            async onScore(scored) {
              const { outcome, why } = scored.together;
              const waiting = chosen.get(scored.id)!;
              if (outcome === "answered") await keep(production, waiting, scored, work, io);
              if (outcome === "not asked") {
                unasked.push(scored.together);
                return;
              }
              counts[outcome] = (counts[outcome] ?? 0) + 1;
              if (outcome !== "answered") lost ??= why;
              queue.done(waiting, outcome);
            },
          });
          ended = unasked[0];
          if (ended?.ended === "budget.spent" || work.once) break;
          outages = ended ? outages + 1 : 0;
          const pause = Math.max(every, Math.min(longestPause, every * 2 ** Math.max(0, outages - 1)));
          if (ended && !control.signal.aborted) io.error(outageLine(ended, pause));
          await sleep(pause * 1000, undefined, { signal: control.signal });
        }
      },
      "there",
    );
  } catch (e) {
    if (!control.signal.aborted) throw e;
  } finally {
    off();
    sayEnd({ counts, lost, ended, spend: spent() }, io);
  }
}

/** Longest pause between looks during an outage, in seconds. */
const longestPause = 300;

const outageLine = ({ why = "" }: JudgeCall, pause: number): string =>
  `${time(Date.now())}  No judgements: ${oneLine(why)} Asking again in ${pause} s.`;

interface Ended {
  readonly counts: Partial<Record<CallOutcome, number>>;
  /** Why the first of those without a score has none. */
  readonly lost: string | undefined;
  /** The call that was not asked in the last look, if one was not. */
  readonly ended: JudgeCall | undefined;
  readonly spend: Spend | undefined;
}

function sayEnd({ counts, lost: why, ended, spend }: Ended, io: Io): void {
  const { answered = 0, ...lost } = counts;
  const said = [`${answered} judged`, ...Object.entries(lost).map(([outcome, n]) => `${n} ${outcome}`)];
  io.record({ type: "done", outcomes: counts, ...(spend && { spend }) });
  io.say(said.join(", "), ...(spend ? folded(io, `Cost: ${spendLine(spend)}`) : []));
  if (ended) {
    const after = ended.ended === "budget.spent" ? "with another budget " : "";
    io.error(`whetstone: ${oneLine(ended.why ?? "")} The same command ${after}goes on.`);
    io.code = 1;
  } else if (why !== undefined) {
    io.error(`The first without a score: ${oneLine(why)}`);
    // a judge that answers nothing is broken, and nobody else would notice
    if (answered === 0) io.code = 1;
  }
}

/** What waits to be judged, read from the store as it comes. */
function liveQueue(production: TrafficStore, { panel, channel, hourly, quiet, within, every }: LiveWork) {
  const source = sourceOf(panel);
  const isOurs = (signal: ReceivedSignal): boolean => signal.source === source && signal.channel === channel;
  const waiting = new Map<string, Waiting>();
  const judged = new Map<string, number>();
  let from = Date.now() - 1000 * within;

  async function look(now: number): Promise<void> {
    // what is not quiet yet is read again
    const next = now - 1000 * (quiet + every);
    for await (const session of servedSessions(production, { from })) {
      for (const one of waitingIn(session, isOurs)) {
        if (one.isJudged) waiting.delete(one.id);
        if (one.isJudged || one.at > now - 1000 * quiet) continue;
        const failures = waiting.get(one.id)?.failures ?? 0;
        if (failures < most.tries) waiting.set(one.id, { ...one, failures });
      }
    }
    for (const id of waiting.keys()) {
      if (waiting.size <= most.waiting) break;
      waiting.delete(id);
    }
    from = Math.max(from, next);
  }

  return {
    /** By trajectory, what is judged next. */
    async next(): Promise<ReadonlyMap<string, Waiting>> {
      const now = Date.now();
      await look(now);
      let lately = 0;
      for await (const signal of production.signals({ channel, from: now - hour }))
        if (isOurs(signal)) lately++;
      const open = [...waiting.values()].filter(({ failures }) => failures < most.tries);
      const ids = stratified(open, judged, Math.max(0, hourly - lately));
      return new Map(ids.map((id) => [id, waiting.get(id)!]));
    },
    done(one: Waiting, outcome: CallOutcome): void {
      if (outcome === "answered" || outcome === "abstained") {
        waiting.delete(one.id);
        judged.set(one.stratum, (judged.get(one.stratum) ?? 0) + 1);
      } else waiting.set(one.id, { ...one, failures: one.failures + 1 });
    },
  };
}

/** Who gives the judgements. */
const sourceOf = ({ names }: JudgePanel): string => `judge:${names.join("+")}`;

interface Seen extends Omit<Waiting, "failures"> {
  /** Of its last response. */
  readonly at: number;
  readonly isJudged: boolean;
}

function* waitingIn(
  { id: session, trajectories, signals }: ServedSession,
  isOurs: (signal: ReceivedSignal) => boolean,
): Generator<Seen> {
  for (const [id, responses] of trajectories) {
    const last = answeredTurns(responses).at(-1)?.response;
    if (!last) continue;
    const about = signals.filter((signal) => signal.about.some((target) => isAbout(target, session, last)));
    const feedback = about.some((signal) => !isOurs(signal)) ? "with feedback" : "without feedback";
    yield {
      id,
      session,
      response: last.id,
      stratum: `${last.version}, ${feedback}`,
      at: last.at + last.ms,
      isJudged: about.some((signal) => isOurs(signal) && signal.about.some((t) => t.response === last.id)),
    };
  }
}

const isAbout = (
  target: ReceivedSignal["about"][number],
  session: Id,
  { id, trajectory }: ServedResponse,
): boolean =>
  target.response === undefined
    ? target.trajectory === undefined
      ? target.session === session
      : target.trajectory === trajectory
    : target.response === id;

/** Reads each session anew, since sessions may be long and many wait; none after a stop. */
async function* itemsOf(
  production: TrafficStore,
  chosen: ReadonlyMap<string, Waiting>,
  stop: AbortSignal,
): AsyncGenerator<NamedItem> {
  for (const [id, { session }] of chosen) {
    if (stop.aborted) return;
    for await (const served of servedSessions(production, { session })) {
      const one = loggedTrajectory(id, served);
      if (one) yield* named(id, one.trajectory);
    }
  }
}

async function keep(
  production: TrafficStore,
  { session, response, stratum }: Waiting,
  { id, together: { value = Number.NaN } }: ScoredItem,
  { panel, channel, rule }: Pick<LiveWork, "panel" | "channel" | "rule">,
  io: Io,
): Promise<void> {
  const [now, source] = [Date.now(), sourceOf(panel)];
  const signal: ReceivedSignal = {
    id: orderedId(now),
    // a client cannot send tabs, and so takes no key of a judge's
    key: `${source}\t${channel}\t${response}`,
    kind: "score",
    channel,
    about: [{ response }],
    value,
    source,
    at: now,
    received: now,
    tags: { "judge.version": judgeVersion(panel, rule) },
  };
  await production.write([{ kind: "signal", signal }]);
  io.record({ type: "judged", session, trajectory: id, response, stratum, score: value });
  io.say(`${time(now)}  ${number(value).padStart(6)}  ${oneLine(id)}  (${stratum})`);
}

/** What was judged, in words for the plan. */
const livePlan = ({ hourly, quiet, every, panel }: LiveWork): string =>
  `Judging at most ${counted(hourly, "conversation")} an hour by ${panel.names.join(" and ")}, each once it is quiet for ${quiet} s; looking every ${every} s. Ctrl-C ends.`;
