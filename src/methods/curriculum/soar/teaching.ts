import { mapById } from "../../../common/mapById.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Sample } from "../../../core/model.ts";
import type { Experience, Rollout } from "../../../core/slots.ts";
import type { Id, Message, Task, Trajectory, Unit } from "../../../core/types.ts";
import { asProposed } from "../../../data/proposed.ts";

/** Name of the model that writes problems. */
export const teacher = "teacher";

/** What the teacher is asked. It sees none of the hard tasks. */
export const teacherQuestion = "Write a question , the word answer , and its answer .";

/** The problems that a text of the teacher states, with ids that begin with this one; none for a malformed text. */
export type ReadProblems = (ctx: Ctx, text: string, id: Id) => readonly Task[];

/** Reads "QUESTION answer ANSWER", by the last "answer": a task of this iteration, drawn by the id, that asks the question instead. */
export const questionAndAnswer: ReadProblems = (ctx, text, id) => {
  const words = text.split(/\s+/).filter(Boolean);
  const at = words.lastIndexOf("answer");
  const given = ctx.tasks[ctx.random.split("place", id).below(Math.max(1, ctx.tasks.length))];
  if (at < 1 || at === words.length - 1 || !given) return [];
  return [asProposed(given, words.slice(0, at).join(" "), id, words.slice(at + 1).join(" "))];
};

/** Settings of {@link teaching}. */
export interface TeachingOptions {
  /** g, datasets per iteration; each is one unit. */
  readonly datasets: number;
  /** n, texts of a dataset. */
  readonly texts: number;
  /** Longest problem, in tokens. Default 64. */
  readonly maxTokens?: number;
  readonly temperature?: number;
}

/**
 * The teacher writes datasets of problems. Each text is a trajectory of role and model "teacher" with one turn; each dataset is a
 * unit of its texts, and the datasets of an iteration are one group. Nothing is played. Counts generations and tokens.sampled.
 * Paper: "Teaching Models to Teach Themselves: Reasoning at the Edge of Learnability".
 */
export function teaching({ datasets, texts, maxTokens = 64, temperature = 1 }: TeachingOptions): Rollout {
  return async (ctx) => {
    const model = ctx.model(teacher);
    const asked: readonly Message[] = [{ role: "user", content: teacherQuestion }];
    const prompt = model.codec.open(asked);
    const names = Array.from({ length: datasets }, (_, k) => `${ctx.clock.iteration}/dataset ${k}`);
    const ids = names.map((name) => Array.from({ length: texts }, (_, i) => `${name}/${i}`));
    const samples = await model.sample(
      ids.flat().map((id) => ({ prompt, maxTokens, temperature, seed: ctx.random.split(id).seed })),
    );
    ctx.count("generations", samples.length);
    ctx.count(
      "tokens.sampled",
      samples.reduce((sum, { action }) => sum + action.length, 0),
    );
    return {
      trajectories: ids
        .flat()
        .map((id, i) => written(id, asked, prompt, samples[i]!, model.codec.decode(samples[i]!.action))),
      units: names.map((id, k): Unit => ({ id, group: `${ctx.clock.iteration}`, members: ids[k]! })),
    };
  };
}

/** A text of the teacher as a trajectory. */
function written(
  id: Id,
  asked: readonly Message[],
  prompt: Int32Array,
  { action, logp, behaviour, entropy, stop, version }: Sample,
  content: string,
): Trajectory {
  return {
    ...{ id, task: "problems", episode: id, role: teacher, origin: "sampled" },
    end: { kind: "done", reason: "written" },
    turns: [
      {
        ...{ role: teacher, model: teacher, version, prompt: asked, spans: {}, stop, rewards: {}, ms: 0 },
        action: { role: "assistant", content },
        tokens: { prompt, action, logp, behaviour, ...(entropy && { entropy }) },
      },
    ],
  };
}

/** The problems of a dataset; malformed texts are left out. @param copy tells tasks of equal problems apart. */
export function problemsOf(
  ctx: Ctx,
  { trajectories }: Pick<Experience, "trajectories">,
  { members }: Unit,
  copy: number,
  read: ReadProblems,
): Task[] {
  const byId = mapById(trajectories);
  return members.flatMap((id) => {
    const text = byId.get(id)?.turns[0]?.action.content;
    return text === undefined ? [] : read(ctx, text, `${id} copy ${copy}`);
  });
}
