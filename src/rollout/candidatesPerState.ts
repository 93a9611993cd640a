import type { Rollout } from "../core/slots.ts";
import type { Id, Trajectory, Unit } from "../core/types.ts";

/** Settings of {@link candidatesPerState}. */
export interface CandidatesPerStateOptions {
  /** G, actions sampled in each state. Default 8. */
  readonly candidates?: number;
  /** Default 1. */
  readonly temperature?: number;
}

/**
 * Plays every training task once, and in each visited state samples several actions, one step each:
 *
 *     played: s[0], a[0], s[1], …          branches at k: s[0], a[0], …, s[k], then G actions of the policy, and no further
 *
 * The branches of a state are a group, "<task>/<k>": they differ only in their last turn, so that only the action is
 * compared; the tokens of earlier turns are forced. The played episode only supplies the states and is in no unit. The
 * environment must be able to replay; its random draws must depend only on the task, so that equal actions have equal
 * effects. Failed branches are left out. For environments with one role.
 * Papers: "Dialogue as Discovery: Navigating Human Intent Through Principled Inquiry"; "Recursive Introspection: Teaching Language
 * Model Agents How to Self-Improve", where a state is a task with earlier attempts and their feedback.
 */
export function candidatesPerState(options: CandidatesPerStateOptions = {}): Rollout {
  const { candidates = 8, temperature } = options;
  const warmth = temperature === undefined ? {} : { temperature };
  return async (ctx) => {
    const tried = await Promise.all(
      ctx.tasks.map(async ({ id: task }) => {
        const [trajectory] = await ctx.play({ task, attempt: 0, ...warmth });
        if (!trajectory || trajectory.end.kind === "failed") return [];
        const at = async (turn: number, candidate: number): Promise<readonly Branch[]> => {
          const played = await ctx.play({
            task,
            attempt: 1 + turn * candidates + candidate,
            from: { trajectory, turn, why: "branch" },
            limits: { turns: turn + 1 },
            ...warmth,
          });
          return played
            .filter((t) => t.end.kind !== "failed")
            .map((t) => ({ t: choosingAt(t, turn), unit: unitOf(t.id, `${task}/${turn}`) }));
        };
        const branches = await Promise.all(
          trajectory.turns.flatMap((_, turn) =>
            Array.from({ length: candidates }, (_unused, candidate) => at(turn, candidate)),
          ),
        );
        return branches.flat();
      }),
    );
    const all = tried.flat();
    return { trajectories: all.map(({ t }) => t), units: all.map(({ unit }) => unit) };
  };
}

interface Branch {
  readonly t: Trajectory;
  readonly unit: Unit;
}

/** The earlier turns are not this branch's choice: their tokens are forced and have no weight. */
const choosingAt = (t: Trajectory, turn: number): Trajectory => ({
  ...t,
  turns: t.turns.map((own, k) =>
    k < turn && own.tokens
      ? { ...own, tokens: { ...own.tokens, forced: new Uint8Array(own.tokens.action.length).fill(1) } }
      : own,
  ),
});

const unitOf = (id: Id, group: Id): Unit => ({ id, group, members: [id] });
