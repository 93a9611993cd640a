/** The context that slot pieces see, over a run's models, environment and streams. */
import type { Counter, Ctx } from "../core/context.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Task } from "../core/types.ts";
import { hashedText } from "../memory/hashedText.ts";
import { artefactsIn } from "./artefacts.ts";
import { type ContextParts, episodeBook } from "./contextParts.ts";
import { environmentJudge } from "./environmentJudge.ts";
import { lookupsOf } from "./lookups.ts";
import { playsOf } from "./play.ts";
import { clockOf } from "./state.ts";

/** @param tasks the tasks of this iteration. */
export function makeContext(parts: ContextParts, tasks: readonly Task[]): Ctx {
  const { environment, state, book = episodeBook(tasks) } = parts;
  const { encoder = hashedText(), leaksIn = () => [] } = parts;
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
    tasks,
    ...lookups,
    play: playsOf({ parts, book, lookups, random, artefact, count }),
    ...environmentJudge(environment, lookups.task, count),
    embed: (texts) => encoder.embed(texts),
    learn: () => {
      throw new WhetstoneError("capability.missing", {
        where: "Ctx.learn",
        got: "a method that trains a student inside a run",
        expected: "a method that does not: this version cannot",
        fix: "Choose another method.",
      });
    },
    memory: {
      get: (key) => state.memory[key],
      set: (key, value) => {
        state.memory[key] = value;
      },
    },
    artefacts,
    count,
  };
}
