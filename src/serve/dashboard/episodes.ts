/** Episodes for the dashboard's pages: the messages of each turn, with the numbers of every token. */
import { newMessages } from "../../common/text/transcript.ts";
import type { Message, Trajectory, Turn } from "../../core/types.ts";
import type { StoredTrajectory, TrajectorySummary } from "../../store/runStore.ts";
import type { Spell } from "../spelling.ts";
import type {
  EpisodeDetail,
  EpisodeRow,
  EpisodeTurn,
  Relative,
  SaidMessage,
  TokenLayers,
  Value,
} from "./types.ts";

export function episodeRow(t: TrajectorySummary): EpisodeRow {
  const { iteration, phase, id, task, role, turns } = t;
  return { iteration, phase, id, task, role, turns, reward: t.reward ?? null, outcome: outcomeOf(t) };
}

const outcomeOf = ({ end, success }: TrajectorySummary): string =>
  end !== "done" ? end : success === undefined ? "done" : success ? "success" : "no success";

/** @param family episodes of the same task, iteration and phase, including this one, with their lineages. */
export function episodeDetail(
  stored: StoredTrajectory,
  family: readonly StoredTrajectory[],
  spell: Spell | undefined,
): EpisodeDetail {
  const { trajectory, advantage } = stored;
  let read: readonly Message[] = [];
  let at = 0;
  const conversation = trajectory.turns.map((turn) => {
    const fresh = newMessages(turn.prompt, read);
    read = [...turn.prompt, turn.action];
    const count = turn.tokens?.action.length ?? 0;
    at += count;
    return turnOf(turn, fresh, advantage?.subarray(at - count, at), spell);
  });
  return {
    ...episodeRow(stored),
    run: stored.run,
    origin: stored.origin,
    end: endOf(trajectory),
    conversation,
    family: family.map(relativeOf),
  };
}

function turnOf(
  { action, role, stop, rewards, text, version, ms, spans, tokens }: Turn,
  fresh: readonly Message[],
  advantage: Float32Array | undefined,
  spell: Spell | undefined,
): EpisodeTurn {
  const layers: TokenLayers | undefined = tokens && {
    ...(spell && { pieces: Array.from(tokens.action, (id) => spell(id)) }),
    ids: [...tokens.action],
    logp: numbers(tokens.logp),
    ...(tokens.entropy && { entropy: numbers(tokens.entropy) }),
    ...(advantage && { advantage: numbers(advantage) }),
    ...(tokens.forced && { forced: [...tokens.forced] }),
  };
  return {
    read: fresh.map(saidOf),
    action: saidOf(action),
    role,
    stop,
    rewards,
    ...(text !== undefined && { text }),
    version,
    ms,
    spans,
    ...(layers && { tokens: layers }),
  };
}

const saidOf = ({ role, content, toolCalls }: Message): SaidMessage => ({
  role,
  content,
  ...(toolCalls && { calls: toolCalls.map(({ name, arguments: given }) => ({ name, arguments: given })) }),
});

/** Four significant digits, more than a colour shade can show; NaN is null. */
const numbers = (xs: Float32Array): Value[] =>
  Array.from(xs, (x) => (Number.isFinite(x) ? Number(x.toPrecision(4)) : null));

function relativeOf(member: StoredTrajectory): Relative {
  const { id, phase, iteration, reward, trajectory } = member;
  const { lineage } = trajectory;
  return {
    id,
    phase,
    iteration,
    outcome: outcomeOf(member),
    reward: reward ?? null,
    ...(lineage && { parent: { id: lineage.parent, turn: lineage.turn, why: lineage.why } }),
  };
}

function endOf({ end }: Trajectory): string {
  switch (end.kind) {
    case "done":
      return end.reason;
    case "truncated":
      return `cut off at ${end.at} ${end.limit}`;
    case "failed":
      return `failed in ${end.boundary}: ${end.message}`;
  }
}
