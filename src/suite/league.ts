/** A league: every member plays every other in every role, and is rated by what comes of it. */
import { bradleyTerryRatings, circlesIn, type Rating } from "../common/statistics/ratings.ts";
import { mean, wilsonInterval } from "../common/statistics/statistics.ts";
import { writeMessage } from "../common/text/toolCalls.ts";
import { newMessages } from "../common/text/transcript.ts";
import { WhetstoneError } from "../core/errors.ts";
import { randomStream } from "../core/random.ts";
import type { Message, Role, Trajectory } from "../core/types.ts";
import type { Environment } from "../env/environment.ts";
import {
  exploitability,
  type GameTree,
  isGame,
  payoffsUnder,
  type Strategy,
  together,
} from "../env/index.ts";
import type { Actor } from "../rollout/actor.ts";
import { playEpisode } from "../rollout/episode.ts";
import { payoffsOf, wonBy } from "../rollout/payoffs.ts";
import type { Replay } from "./replay.ts";

/** Who takes part. */
export interface LeagueMember {
  readonly name: string;
  /** Of its weights: games of another version are played again. */
  readonly version: string;
  readonly actor: Actor;
  /** How it plays, exactly, where the game is one that can be listed. */
  readonly strategy?: Strategy;
  /** The run that it is a checkpoint of, and its iteration. */
  readonly checkpoint?: { readonly run: string; readonly iteration: number };
}

/** The games of two members, from the first one's side. */
export interface Pairing {
  readonly first: string;
  readonly second: string;
  readonly games: number;
  /** Games that the first won; a draw is half a win. A game is won by a payoff above the mean of the other roles'. */
  readonly won: number;
  /** Mean payoff of the first and of the second. */
  readonly payoffs: readonly [number, number];
  /** Games that failed, which count nowhere. */
  readonly failed: number;
  /** Of the weights of the first and of the second. */
  readonly versions: readonly [string, string];
  /** The first game of each seat, of those that did not fail. */
  readonly replays: readonly Replay[];
}

/** Settings of {@link playPairing}. */
export interface PairingOptions {
  readonly environment: Environment;
  /** Games of each pair, at least; each role of the first gets as many. */
  readonly games: number;
  readonly seed: number;
  /** Splits of tasks in which every role acts. Default "train". */
  readonly split?: string;
  readonly limit: <T>(work: () => Promise<T>) => Promise<T>;
  readonly stop?: AbortSignal;
}

/**
 * Plays two members against each other. The first plays each role in turn while the second plays all others. Equal seeds and names give
 * equal games, whatever else is played.
 */
export async function playPairing(
  first: LeagueMember,
  second: LeagueMember,
  { environment, games, seed, split = "train", limit, stop }: PairingOptions,
): Promise<Pairing> {
  const { roles } = environment;
  const sum = isGame(environment) && roles.length === 2 ? environment.game.sum : "general";
  const tasks = environment.tasks(split);
  const each = Math.ceil(games / roles.length);
  const random = randomStream(seed).split("league", first.name, second.name);
  const played = await Promise.all(
    roles.flatMap((seat) =>
      Array.from({ length: each }, (_, game) =>
        limit(async () => {
          stop?.throwIfAborted();
          const task = tasks[game % tasks.length]!;
          const order: Role[] = [];
          const trajectories = await playEpisode({
            environment,
            task,
            id: `league/${first.name}/${second.name}/${seat}/${game}`,
            actor: (role) => heard(role === seat ? first.actor : second.actor, () => order.push(role)),
            random: random.split(seat, game),
          });
          if (trajectories.some(({ end }) => end.kind === "failed")) return undefined;
          const payoffs = payoffsOf(trajectories, seat, sum);
          if (game > 0) return { payoffs };
          const nameOf = (role: Role): string => (role === seat ? first.name : second.name);
          return { payoffs, replay: { seat, ...movesOf(trajectories, order, nameOf), payoffs } };
        }),
      ),
    ),
  );
  const ended = played.filter((one) => one !== undefined);
  return {
    first: first.name,
    second: second.name,
    games: ended.length,
    won: ended.reduce((all, { payoffs }) => all + wonBy(payoffs), 0),
    payoffs: [mean(ended.map(({ payoffs: [a] }) => a)), mean(ended.map(({ payoffs: [, b] }) => b))],
    failed: played.length - ended.length,
    versions: [first.version, second.version],
    replays: ended.flatMap(({ replay }) => replay ?? []),
  };
}

/** An actor whose moves are noticed, since trajectories do not say whose turn came first. */
const heard = (actor: Actor, onAct: () => void): Actor => ({
  ...actor,
  act(request) {
    onAct();
    return actor.act(request);
  },
});

/** Most moves of a replay, and most characters of a text in it. */
const [mostMoves, mostText] = [100, 600];

/** @param order the roles in the order of their moves. */
function movesOf(
  trajectories: readonly Trajectory[],
  order: readonly Role[],
  nameOf: (role: Role) => string,
): Pick<Replay, "moves" | "left"> {
  const next = new Map(trajectories.map(({ role, turns }) => [role, turns.values()]));
  const read = new Map<Role, readonly Message[]>();
  const moves = order.flatMap((role) => {
    const turn = next.get(role)?.next().value;
    if (!turn) return []; // the actor ended the episode in place of a move
    const fresh = newMessages(turn.prompt, read.get(role) ?? []).filter((m) => m.role !== "system");
    read.set(role, [...turn.prompt, turn.action]);
    const text = fresh.map(writeMessage).join("\n");
    return [{ role, by: nameOf(role), read: shortened(text), said: shortened(writeMessage(turn.action)) }];
  });
  return { moves: moves.slice(0, mostMoves), left: Math.max(0, moves.length - mostMoves) };
}

const shortened = (text: string): string =>
  text.length > mostText ? `${text.slice(0, mostText).toWellFormed()}…` : text;

/** What a league came to. */
export interface LeagueReport {
  /** Best first. */
  readonly members: readonly {
    readonly name: string;
    readonly rating: Rating;
    readonly games: number;
    /** Share of its games won, a draw counting half. */
    readonly won: number;
    /** What a best opponent wins from it beyond the game's value: see `exploitability`. */
    readonly exploitability?: number;
    readonly checkpoint?: LeagueMember["checkpoint"];
  }[];
  /** [member][opponent], in the order of `members`: mean payoff over all roles; 0 on the diagonal. */
  readonly payoffs: readonly (readonly number[])[];
  /** Whether the payoffs are expectations, or means of the games. */
  readonly exact: boolean;
  /**
   * Circles of three in which each beats the next: by expected payoffs where these are exact (by more than 0.001), else where the share of
   * games won is above a half by more than chance (95 %).
   */
  readonly circles: readonly (readonly string[])[];
  readonly failed: number;
}

/** Members are told apart by name alone. @throws WhetstoneError `option.range` where two share one. */
export function requireDistinct(members: readonly Pick<LeagueMember, "name">[]): void {
  const names = members.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice === undefined) return;
  throw new WhetstoneError("option.range", {
    where: "league",
    got: `two members called "${twice}"`,
    expected: "a name for each member",
    fix: `Give one another name: a run can be named by its folder, such as runs/${twice} or ./${twice}.`,
  });
}

/** @param tree the game, if it can be listed and all members have a strategy. @throws WhetstoneError `option.range` where two share a name. */
export function leagueReport(
  members: readonly LeagueMember[],
  pairings: readonly Pairing[],
  tree: GameTree | undefined,
): LeagueReport {
  requireDistinct(members);
  const n = members.length;
  const index = new Map(members.map(({ name }, i) => [name, i]));
  const won = Array.from({ length: n }, () => new Array<number>(n).fill(0));
  const games = Array.from({ length: n }, () => new Array<number>(n).fill(0));
  const payoffs = Array.from({ length: n }, () => new Array<number>(n).fill(0));
  for (const pairing of pairings) {
    const [i, j] = [index.get(pairing.first)!, index.get(pairing.second)!];
    won[i]![j] = pairing.won;
    won[j]![i] = pairing.games - pairing.won;
    games[i]![j] = games[j]![i] = pairing.games;
    payoffs[i]![j] = pairing.payoffs[0];
    payoffs[j]![i] = pairing.payoffs[1];
  }
  const exact = tree !== undefined && members.every(({ strategy }) => strategy !== undefined);
  if (exact)
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++)
        if (i !== j) payoffs[i]![j] = expectedPayoff(tree, members[i]!.strategy!, members[j]!.strategy!);
  const beats = (i: number, j: number): boolean =>
    exact
      ? payoffs[i]![j]! > payoffs[j]![i]! + 1e-3
      : games[i]![j]! > 0 && wilsonInterval(won[i]![j]!, games[i]![j]!).low > 0.5;
  const ratings = bradleyTerryRatings(won);
  const order = [...members.keys()].sort((a, b) => ratings[b]!.elo - ratings[a]!.elo);
  const sum = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0);
  return {
    members: order.map((i) => {
      const { name, strategy, checkpoint } = members[i]!;
      return {
        name,
        rating: ratings[i]!,
        games: sum(games[i]!),
        won: sum(won[i]!) / sum(games[i]!),
        ...(tree && strategy ? { exploitability: exploitability(tree, strategy) } : {}),
        ...(checkpoint && { checkpoint }),
      };
    }),
    payoffs: order.map((i) => order.map((j) => payoffs[i]![j]!)),
    exact,
    circles: circlesIn(n, beats).map((circle) => circle.map((i) => members[i]!.name)),
    failed: sum(pairings.map(({ failed }) => failed)),
  };
}

/** Expected payoff of a strategy that plays each role in turn, while the other plays the rest. */
function expectedPayoff(tree: GameTree, own: Strategy, other: Strategy): number {
  const { roles } = tree.game;
  const seats = roles.map((_, seat) => {
    const byRole = roles.map((__, role) => (role === seat ? own : other));
    return payoffsUnder(tree, together(tree, byRole))[seat]!;
  });
  return mean(seats);
}
