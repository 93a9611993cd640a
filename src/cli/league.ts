/** `whetstone league`: policies of a game against each other, rated. */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { Command } from "commander";
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import { isWhetstoneError, WhetstoneError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import type { Environment } from "../env/environment.ts";
import { isGame, strategyOf, uniformStrategy } from "../env/index.ts";
import { scriptActor } from "../rollout/actor.ts";
import {
  type LeagueMember,
  type LeagueReport,
  leagueReport,
  playPairing,
  requireDistinct,
} from "../suite/league.ts";
import { checkpointState } from "../train/checkpoint.ts";
import { evaluatedActor } from "../train/evaluate.ts";
import { limitConcurrency } from "../train/limit.ts";
import { requireEnvironment } from "./catalogue.ts";
import { type EvaluatedPolicy, evaluatedPolicy } from "./evaluationOptions.ts";
import { untilInterrupted } from "./interrupted.ts";
import { type LeagueBook, leagueBook } from "./leagueBook.ts";
import { statedNumber } from "./numbers.ts";
import { addCommand, type Io, lateProgress, number, paint, percent, roomOf, table } from "./output.ts";
import { recordedConfig, recordedEnvironment } from "./runRecord.ts";
import { storeOption } from "./runs.ts";
import { findWeights } from "./weights.ts";

interface LeagueOptions {
  readonly env?: string;
  readonly games: string;
  readonly seed: string;
  readonly checkpoints?: true;
  readonly players: boolean;
  readonly out?: string;
  readonly store: string;
}

export function addLeague(program: Command, io: Io): void {
  addCommand(
    program,
    "league",
    "Let policies of a game play each other: ratings with intervals, payoffs, circles, exploitability.",
    [
      "whetstone league kuhn-poker-rloo-1 kuhn-poker-magnetic-self-play-1",
      "whetstone league runs/kuhn --checkpoints",
      "whetstone league runs/a runs/b runs/c --games 1000 --out league.jsonl",
      "whetstone league --env tic-tac-toe",
      "whetstone league runs/a runs/b --no-players --json",
    ],
  )
    .argument("[runs-or-checkpoints...]", "runs by id or folder, or folders of checkpoints")
    .option("--env <name>", "game, or a module that exports one (default: the first run's own)")
    .option("--games <n>", "games of each pair, spread over the roles", "200")
    .option("--seed <n>", "seed of the games", "1")
    .option(
      "--checkpoints",
      "also stages of the runs: those kept by --keep-every, or else the last checkpoints",
    )
    .option("--no-players", "without the game's scripted players, reference and random")
    .option(
      "--out <file>",
      "file that keeps the games, JSON lines: the same command goes on from it, and the dashboard shows one beside the store",
    )
    .option(...storeOption)
    .action(async (named: readonly string[], options: LeagueOptions) => await league(named, options, io));
}

async function league(named: readonly string[], options: LeagueOptions, io: Io): Promise<void> {
  const games = statedNumber("--games", options.games, 2);
  const seed = statedNumber("--seed", options.seed);
  const policies = await policiesOf(await namesOf(named, options), options.store, io);
  const environment = await gameOf(options.env, policies);
  await untilInterrupted(io, async (stop) => {
    try {
      const members = [
        ...(options.players ? playersOf(environment) : []),
        ...(await Promise.all(policies.map((policy) => memberOf(policy, environment, stop)))),
      ];
      requireTwo(members);
      requireDistinct(members);
      const key = { environment: environment.name, games, seed };
      const book = await leagueBook(options.out, key);
      const report = await playAll(members, environment, { games, seed, book, stop }, io);
      book.end(report);
      io.record({ type: "league", environment: environment.name, gamesPerPair: games, seed, ...report });
      io.say(...reportLines(report, environment, io));
    } finally {
      for (const { dispose } of policies) await dispose();
    }
  });
}

/** Runs of one chat model are called after it: they are told apart by what they were named. */
async function policiesOf(
  all: readonly string[],
  store: string,
  io: Io,
): Promise<readonly EvaluatedPolicy[]> {
  const policies: EvaluatedPolicy[] = [];
  for (const one of all)
    policies.push(await evaluatedPolicy("league", one, { store, cache: "runs/chat" }, io));
  const isShared = ({ name }: EvaluatedPolicy): boolean =>
    policies.filter((other) => other.name === name).length > 1;
  return policies.map((policy, i) =>
    isShared(policy) ? { ...policy, name: `${policy.name} (${all[i]})` } : policy,
  );
}

/** What was named, and with --checkpoints the stages of the runs, each weights once, however they are spelt. */
async function namesOf(
  named: readonly string[],
  { checkpoints, store }: Pick<LeagueOptions, "checkpoints" | "store">,
): Promise<readonly string[]> {
  const all = await Promise.all(
    named.map(async (one) => {
      const { folder } = await findWeights("league", one, store);
      return { one, stages: checkpoints ? checkpointsOf(folder) : [] };
    }),
  );
  if (checkpoints && all.every(({ stages }) => stages.length === 0)) {
    throw new WhetstoneError("option.range", {
      where: "--checkpoints",
      got: named.length === 0 ? "no run" : `${named.join(", ")}, with no weights of its stages`,
      expected: "a run that kept weights of its stages",
      fix: "Name a run that was trained with --keep-every, or leave --checkpoints out.",
    });
  }
  const known = new Map<string, string>();
  for (const one of all.flatMap(({ one, stages }) => [one, ...stages])) {
    const at = realpathSync((await findWeights("league", one, store)).weights);
    if (!known.has(at)) known.set(at, one);
  }
  return [...known.values()];
}

/** Folders of a run's stages: those that it kept by --keep-every, or else its last checkpoints. */
function checkpointsOf(run: string): string[] {
  const folder = ["kept", "checkpoints"].map((name) => join(run, name)).find(existsSync);
  return folder === undefined
    ? []
    : readdirSync(folder)
        .sort()
        .map((name) => join(folder, name));
}

/** The run and the iteration that a folder of weights is of, where it is one of those that a run keeps. */
async function checkpointAt(path: string): Promise<LeagueMember["checkpoint"]> {
  const at = relative("", resolve(path)).split(sep);
  const run = at.slice(0, -2).join("/");
  if (at.at(-2) === "kept") return { run, iteration: Number(at.at(-1)) };
  return at.at(-2) === "checkpoints"
    ? { run, iteration: (await checkpointState(path)).iteration }
    : undefined;
}

async function gameOf(
  stated: string | undefined,
  policies: readonly EvaluatedPolicy[],
): Promise<Environment> {
  const begun = policies.find(({ found }) => found?.begun)?.found?.begun;
  const environment =
    stated !== undefined
      ? await requireEnvironment("--env", stated)
      : begun && (await recordedEnvironment(begun, await recordedConfig(begun)));
  if (environment === undefined) {
    throw new WhetstoneError("option.range", {
      where: "league",
      got: "no run that names its game, and no --env",
      expected: "a run, or --env",
      fix: "Name a run of a game, or give --env kuhn-poker.",
    });
  }
  if (environment.roles.length > 1) return environment;
  throw new WhetstoneError("option.range", {
    where: "league",
    got: `the environment ${environment.name}, in which only the role ${environment.roles[0]} acts`,
    expected: "a game of two roles or more",
    fix: "Choose a game: whetstone envs lists them.",
  });
}

/** The reference player and random moves, where the environment is a game that can be listed. */
function playersOf(environment: Environment): LeagueMember[] {
  if (!isGame(environment)) return [];
  const { expert, flawed } = environment;
  return [
    {
      name: "reference",
      version: "script",
      actor: scriptActor("reference", expert!),
      strategy: environment.reference(),
    },
    {
      name: "random",
      version: "script",
      actor: scriptActor("random", flawed!),
      strategy: uniformStrategy(environment.tree()),
    },
  ];
}

/** Rows that are scored for an exact answer, at most. */
const mostRows = 20_000;

async function memberOf(
  policy: EvaluatedPolicy,
  environment: Environment,
  stop: AbortSignal,
): Promise<LeagueMember> {
  const agent = await policy.open(stop);
  const { name, artefact } = policy;
  if ("codec" in agent) requireReadable(policy, agent, environment);
  const actor = evaluatedActor({ agent, stop, ...(artefact && { artefact: artefact.artefact }) });
  const version = "codec" in agent ? agent.version : agent.id;
  const checkpoint = await checkpointAt(name);
  const member = { name, version, actor, ...(checkpoint && { checkpoint }) };
  if (!isGame(environment) || artefact || !("codec" in agent)) return member;
  const rows = environment.tree().sets.reduce((sum, { legal }) => sum + legal.length, 0);
  if (rows > mostRows) return member;
  const { strategy, legal } = await strategyOf(environment.tree(), agent);
  // who often makes no move at all does not play by the strategy that its moves alone make
  return legal.every((p) => p > 0.99) ? { ...member, strategy } : member;
}

/** A run of another game may lack this one's words: a table knows those of its own game alone. */
function requireReadable({ name, found }: EvaluatedPolicy, { codec }: Model, environment: Environment): void {
  const trainedOn = found?.begun?.config.env;
  if (trainedOn === undefined || trainedOn === environment.name) return;
  try {
    codec.open([{ role: "user", content: environment.vocabulary?.().join(" ") ?? "" }]);
  } catch (e) {
    if (!isWhetstoneError(e) || e.code !== "tokenizer.unknownToken") throw e;
    throw new WhetstoneError("option.range", {
      where: "league",
      got: `${name}, which was trained on ${trainedOn} and lacks words of ${environment.name}`,
      expected: `policies that know the words of ${environment.name}`,
      fix: `Name runs of one game, and no other game by --env.`,
      cause: e,
    });
  }
}

function requireTwo(members: readonly LeagueMember[]): void {
  if (members.length > 1) return;
  throw new WhetstoneError("option.range", {
    where: "league",
    got: counted(members.length, "member"),
    expected: "two or more",
    fix: "Name more runs, or leave --no-players out.",
  });
}

interface Games {
  readonly games: number;
  readonly seed: number;
  readonly book: LeagueBook;
  readonly stop: AbortSignal;
}

/** Plays the pairs that the book does not have. */
async function playAll(
  members: readonly LeagueMember[],
  environment: Environment,
  { games, seed, book, stop }: Games,
  io: Io,
): Promise<LeagueReport> {
  const pairs = members.flatMap((first, i) => members.slice(i + 1).map((second) => [first, second] as const));
  const progress = lateProgress(io, "Pairs", pairs.length);
  const limit = limitConcurrency(64);
  const pairings = [];
  try {
    for (const [first, second] of pairs) {
      const known = book.find(first, second);
      const played = known ?? (await playPairing(first, second, { environment, games, seed, limit, stop }));
      if (!known) book.add(played);
      pairings.push(played);
      progress.one();
    }
  } finally {
    progress.close();
  }
  return leagueReport(members, pairings, isGame(environment) ? environment.tree() : undefined);
}

/** Letters for the columns of the matrix. */
const letter = (i: number): string =>
  i < 26 ? String.fromCharCode(97 + i) : `${letter(Math.floor(i / 26) - 1)}${letter(i % 26)}`;

function reportLines(report: LeagueReport, { name }: Environment, io: Io): string[] {
  const { members, payoffs, exact, circles, failed } = report;
  const known = members.some((m) => m.exploitability !== undefined);
  const rows = members.map((m, i) => [
    letter(i),
    m.name,
    m.rating.elo.toFixed(0),
    `[${m.rating.low.toFixed(0)}, ${m.rating.high.toFixed(0)}]`,
    String(m.games),
    percent(m.won),
    ...(known ? [m.exploitability === undefined ? "–" : number(m.exploitability)] : []),
  ]);
  const head = ["", "member", "Elo", "95 %", "games", "won", ...(known ? ["exploitability"] : [])];
  const matrix = members.map((m, i) => [
    `${letter(i)} ${m.name}`,
    ...payoffs[i]!.map((x, j) => (i === j ? "" : number(x))),
  ]);
  return [
    paint(io, "bold", `${name}, ${counted(members.length, "member")}`),
    ...table(head, rows, roomOf(io)),
    "",
    exact
      ? "Expected payoff of the row against the column, over all roles:"
      : "Mean payoff of the row against the column:",
    ...table(["", ...members.map((_, i) => letter(i))], matrix, roomOf(io)),
    "",
    ...circleLines(circles),
    ...(failed > 0 ? [`${counted(failed, "game")} failed and count nowhere.`] : []),
  ];
}

const mostCircles = 5;

function circleLines(circles: LeagueReport["circles"]): string[] {
  if (circles.length === 0) return ["No circles: nobody beats whoever beats somebody that beats them."];
  return [
    `${counted(circles.length, "circle")}, which no rating can show:`,
    ...circles
      .slice(0, mostCircles)
      .map((circle) => `  ${[...circle, circle[0]!].map(oneLine).join(" beats ")}`),
    ...(circles.length > mostCircles ? [`  and ${circles.length - mostCircles} more`] : []),
  ];
}
