/** JSON types of the dashboard's API: leagues that `whetstone league --out` wrote. */
import type { Replay } from "../../suite/replay.ts";
import type { Value } from "./numberTypes.ts";

export interface LeagueRow {
  /** Name of its file. */
  readonly id: string;
  readonly environment: string;
  readonly members: number;
  readonly gamesPerPair: number;
  /** When it was written, milliseconds since 1970. */
  readonly at: number;
}

export interface LeaguesPage {
  /** The last written first. */
  readonly leagues: readonly LeagueRow[];
}

export interface LeagueMemberRow {
  readonly name: string;
  readonly elo: number;
  /** Of 95 %. */
  readonly low: number;
  readonly high: number;
  readonly games: number;
  /** Share of its games. */
  readonly won: Value;
  readonly exploitability: Value;
  /** The run that it is a stage of, and its iteration. */
  readonly checkpoint?: { readonly run: string; readonly iteration: number };
}

export interface LeagueDetail extends LeagueRow {
  /** Best first. */
  readonly standing: readonly LeagueMemberRow[];
  /** [member][opponent], in the order of `standing`; 0 on the diagonal. */
  readonly payoffs: readonly (readonly Value[])[];
  /** Whether payoffs are expectations, or means of the games. */
  readonly exact: boolean;
  /** Members each of which beats the next, and the last the first. */
  readonly circles: readonly (readonly string[])[];
  readonly failed: number;
}

/** Games of two members. */
export interface LeagueGames {
  readonly first: string;
  readonly second: string;
  readonly replays: readonly Replay[];
}
