import { onSharedSequences } from "../../../common/tokens/sequence.ts";
import { sampledTurn } from "../../../common/tokens/turns.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import type { Data, Rollout } from "../../../core/slots.ts";
import type { Ending, Message, Task, Trajectory, Turn, Unit } from "../../../core/types.ts";
import { type Acted, transitionsOf } from "./transitionModel.ts";

/** Settings of {@link imagining}. */
export interface ImaginingOptions {
  /** Imagined episodes for each real one. Default 1: half of all episodes. */
  readonly share?: number;
  /** Most turns of an imagined episode. Default 7. */
  readonly turns?: number;
  /** Whether an action ends an episode. */
  readonly stops: (action: string) => boolean;
  /** Longest action, in tokens. Default 32. */
  readonly actionTokens?: number;
  /** Default 1. */
  readonly temperature?: number;
}

/** Name of the helper that predicts observations. */
export const worldModel = "world";

/**
 * A rollout, and as many episodes in a world model that is fitted to all its transitions so far, successes and failures:
 *
 *     o_0 from the query,   a_t ~ π,   o_{t+1} = world model(o_t, a_t)          until the policy stops
 *
 * The queries are the iteration's tasks that {@link withQueries} added, or its own tasks where there are none.
 * Imagined trajectories have the origin "imagined" and no reward; a judge has to look at them. One in which the model knows no answer, or that
 * does not stop within `turns`, is dropped and its tokens are discarded. Units: one trajectory each, grouped by task.
 *
 * Stats: imagined, share of imagined episodes that stop.
 * Paper: "WebEvolver: Enhancing Web Agent Self-Improvement with Coevolving World Model".
 */
export function imagining(rollout: Rollout, options: ImaginingOptions): Rollout {
  const { share = 1 } = options;
  return async (ctx) => {
    const queries = ctx.tasks.filter(isQuery);
    const real = await rollout({ ...ctx, tasks: ctx.tasks.filter((task) => !isQuery(task)) });
    const ended = real.trajectories.filter(({ end }) => end.kind !== "failed");
    await ctx.helper<Acted, string, string | undefined>(worldModel).fit(transitionsOf(ended));
    const count = Math.round(share * ended.length);
    const tasks = queries.length > 0 ? queries : ctx.tasks;
    const dreams = await Promise.all(
      Array.from({ length: count }, (_, i) => imagined(ctx, tasks[i % tasks.length]!, i, options)),
    );
    const whole = dreams.filter((t) => t !== undefined);
    const units = whole.map(({ id, task }): Unit => ({ id, group: `${task}/imagined`, members: [id] }));
    return {
      ...real,
      trajectories: [...real.trajectories, ...whole],
      units: [...real.units, ...units],
      stats: { ...real.stats, ...(count > 0 && { imagined: whole.length / count }) },
    };
  };
}

const isQuery = ({ metadata }: Task): boolean => metadata.imagined === true;

/** The tasks of a data piece, and queries to be imagined beside them; a task of theirs that is chosen anyway is none. */
export function withQueries<State extends Json>(
  data: Data<State>,
  queries: (ctx: Ctx) => readonly Task[],
): Data<State> {
  return {
    ...data,
    name: `${data.name}, with queries to imagine`,
    async choose(ctx, tasks, state) {
      const { tasks: chosen, next } = await data.choose(ctx, tasks, state);
      const taken = new Set(chosen.map(({ id }) => id));
      const further = [...new Map(queries(ctx).map((task) => [task.id, task])).values()]
        .filter(({ id }) => !taken.has(id))
        .map((task): Task => ({ ...task, metadata: { ...task.metadata, imagined: true } }));
      return { tasks: [...chosen, ...further], next };
    },
  };
}

/** The i-th imagined episode; undefined where it comes to no end. */
async function imagined(
  ctx: Ctx,
  task: Task,
  i: number,
  { turns: most = 7, stops, actionTokens = 32, temperature = 1 }: ImaginingOptions,
): Promise<Trajectory | undefined> {
  const model = ctx.model();
  const world = ctx.helper<Acted, string, string | undefined>(worldModel);
  const random = ctx.random.split("imagined", task.id, i);
  const made: Turn[] = [];
  let messages: readonly Message[] = task.prompt;
  let prompt = model.codec.open(messages);
  for (let k = 0; k < most && prompt.length + actionTokens <= model.contextTokens; k++) {
    const request = { prompt, maxTokens: actionTokens, temperature, seed: random.split("turn", k).seed };
    const [sample] = await model.sample([request]);
    ctx.count("generations", 1);
    ctx.count("tokens.sampled", sample!.action.length);
    const turn = sampledTurn({
      model: { id: "policy", codec: model.codec },
      role: "agent",
      prompt,
      messages,
      sample: sample!,
    });
    made.push(turn);
    const action = turn.action.content.trim();
    if (stops(action)) {
      const tokens = onSharedSequences(made.map((one) => one.tokens));
      const turns = made.map((one, at): Turn => ({ ...one, ...(tokens[at] && { tokens: tokens[at] }) }));
      const id = `${task.id}/imagined ${i}`;
      const end: Ending = { kind: "done", reason: "stopped" };
      return { id, task: task.id, episode: id, role: "agent", turns, end, origin: "imagined" };
    }
    const [seen] = await world.predict([{ state: messages.at(-1)?.content ?? "", action }]);
    if (seen === undefined) break;
    const next: Message = { role: "user", content: seen };
    prompt = Int32Array.from([...prompt, ...sample!.action, ...model.codec.extend(turn.stop, [next])]);
    messages = [...messages, turn.action, next];
  }
  const lost = made.reduce((sum, { tokens }) => sum + (tokens?.action.length ?? 0), 0);
  ctx.count("tokens.discarded", lost);
  return undefined;
}
