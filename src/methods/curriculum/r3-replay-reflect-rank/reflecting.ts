import type { Ctx } from "../../../core/context.ts";
import { isObject, type Json, listOf } from "../../../core/json.ts";
import type { Rollout } from "../../../core/slots.ts";
import { type Id, type Message, succeeded, type Task, type Trajectory } from "../../../core/types.ts";

/** Settings of {@link reflecting}. */
export interface ReflectingOptions {
  /** Attempts with a reflection at each task that needs it. */
  readonly groupSize: number;
  readonly temperature?: number;
  /** Mean past success below which a task is also asked with a reflection. */
  readonly below: number;
}

/** What a policy is told about its earlier attempt. */
export const reflection = "an earlier attempt was wrong ; reflect on it and answer again";

const kept = "reflecting";

/** What is known of a task: its past success, and its last wrong attempt as text. */
interface Past {
  readonly attempts: number;
  readonly successes: number;
  readonly wrong: string;
}

/**
 * Adds a second group for tasks with low past success, from their second visit on: the prompt has one of the task's earlier
 * wrong attempts and an instruction to reflect. It is an ordinary prompt with a group of its own; the gradient passes
 * through the new answer alone. Past success counts attempts without a reflection. Stats: `reflected`, the share of tasks.
 * Paper: "R^3: Replay, Reflection, and Ranking Rewards for LLM Reinforcement Learning".
 */
export function reflecting(rollout: Rollout, { groupSize, temperature, below }: ReflectingOptions): Rollout {
  return async (ctx) => {
    const past = readPast(ctx.memory.get(kept));
    const asked = ctx.tasks.filter(({ id }) => {
      const known = past.get(id);
      return known !== undefined && known.wrong !== "" && known.successes / known.attempts < below;
    });
    const [plain, again] = await Promise.all([
      rollout(ctx),
      Promise.all(asked.map((task) => groupOf(ctx, task, past.get(task.id)!, { groupSize, temperature }))),
    ]);
    ctx.memory.set(kept, withNew(past, plain.trajectories));
    const extra = again.flat();
    return {
      ...plain,
      trajectories: [...plain.trajectories, ...extra],
      units: [
        ...plain.units,
        ...extra
          .filter((t) => t.end.kind !== "failed" && t.turns.length > 0)
          .map((t) => ({ id: t.id, group: `${t.task}/reflected`, members: [t.id] })),
      ],
      stats: { ...plain.stats, reflected: asked.length / Math.max(1, ctx.tasks.length) },
    };
  };
}

async function groupOf(
  ctx: Ctx,
  task: Task,
  { wrong }: Past,
  { groupSize, temperature }: { readonly groupSize: number; readonly temperature: number | undefined },
): Promise<Trajectory[]> {
  const advice: Message[] = [
    { role: "assistant", content: wrong },
    { role: "user", content: reflection },
  ];
  const plays = Array.from({ length: groupSize }, (_, i) =>
    ctx.play({
      task: task.id,
      attempt: firstReflection + i, // numbered apart from the plain attempts
      advice,
      ...(temperature === undefined ? {} : { temperature }),
    }),
  );
  return (await Promise.all(plays)).flat();
}

const firstReflection = 500_000;

function withNew(past: ReadonlyMap<Id, Past>, played: readonly Trajectory[]): Json {
  const out = new Map(past);
  for (const t of played) {
    if (t.origin !== "sampled" || t.end.kind === "failed" || t.turns.length === 0) continue;
    const { attempts, successes, wrong } = out.get(t.task) ?? { attempts: 0, successes: 0, wrong: "" };
    const success = succeeded(t);
    out.set(t.task, {
      attempts: attempts + 1,
      successes: successes + Number(success),
      wrong: success ? wrong : t.turns.at(-1)!.action.content,
    });
  }
  return [...out].map(([id, { attempts, successes, wrong }]) => ({ id, attempts, successes, wrong }));
}

function readPast(saved: Json | undefined): Map<Id, Past> {
  return new Map(
    listOf(saved).flatMap((one): [Id, Past][] =>
      isObject(one)
        ? [
            [
              String(one.id),
              {
                attempts: Number(one.attempts),
                successes: Number(one.successes),
                wrong: String(one.wrong),
              },
            ],
          ]
        : [],
    ),
  );
}
