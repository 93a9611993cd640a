/** The context that slot pieces see, over a run's models, environment and streams. */
import type { Ctx } from "../core/context.ts";
import type { Counter } from "../core/counter.ts";
import { present } from "../core/errors.ts";
import type { Id, Task } from "../core/types.ts";
import { environmentEvaluator } from "../evaluator/environment.ts";
import { hashedText } from "../memory/hashedText.ts";
import { artefactsIn } from "./artefacts.ts";
import { type ContextParts, episodeBook } from "./contextParts.ts";
import { nothingHeldOut } from "./heldOut.ts";
import { lookupsOf } from "./lookups.ts";
import { playsOf } from "./play.ts";
import { clockOf } from "./state.ts";

/** @param tasks the tasks of this iteration. */
export function makeContext(parts: ContextParts, tasks: readonly Task[]): Ctx {
  const { environment, state, book = episodeBook(tasks) } = parts;
  const { encoder = hashedText(), leaksIn = () => [], heldOut = nothingHeldOut } = parts;
  const random = parts.random.split("iteration", state.iteration);
  const count = (counter: Counter, amount: number): void => {
    state.counters[counter] = (state.counters[counter] ?? 0) + amount;
  };
  const lookups = lookupsOf(parts, book.made);
  const artefacts = artefactsIn(state, leaksIn, count);
  const artefact = () => artefacts.current()?.artefact;
  return {
    clock: clockOf(state, parts.iterations, parts.phase),
    random,
    roles: environment.roles,
    tasks,
    ...lookups,
    play: playsOf({ parts, book, lookups, random, artefact, count }),
    environment: environmentEvaluator(environment),
    embed: (texts) => encoder.embed(texts),
    async learn({ tasks: named, measure, ...inner }) {
      const found = (task: Id | Task): Task => (typeof task === "string" ? lookups.task(task) : task);
      const asked = named.map(found);
      const own = asked.filter((task) => !heldOut.has(task));
      if (own.length < asked.length) count("tasks.refused", asked.length - own.length);
      const key = random.split("student", inner.student, ...own.map(({ id }) => id));
      const learn = present(parts.learn, "Ctx.learn", "way to train students");
      const within = { environment, random: key, stop: parts.stop, count };
      // of no tasks there is nothing to learn
      const iterations = own.length === 0 ? 0 : inner.iterations;
      const measured = measure?.map(found) ?? own;
      return { success: await learn({ ...inner, iterations, tasks: own, measure: measured, ...within }) };
    },
    stop: parts.stop,
    memory: {
      get: (key) => state.memory[key],
      set: (key, value) => {
        state.memory[key] = value;
      },
    },
    artefacts,
    count,
    ...(parts.warn && { warn: parts.warn }),
  };
}
