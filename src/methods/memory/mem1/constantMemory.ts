/** Wraps any environment with a context of constant length: only the last turn and a written state remain. */
import type { Random } from "../../../core/random.ts";
import type { Message, Task } from "../../../core/types.ts";
import { demand, isWhole } from "../../../env/demand.ts";
import { defineEnvironment, type Environment, type Episode, type Step } from "../../../env/environment.ts";

/** Settings of {@link constantMemory}. */
export interface ConstantMemoryOptions {
  /** Most words of the state; further words are cut. Default 64. */
  readonly words?: number;
  /** Separator between state and action in a reply. Default "|". */
  readonly separator?: string;
}

/** A reply's two halves. Without a separator all of it is the action, and nothing is remembered. */
export function stateAndAction(
  reply: string,
  separator = "|",
): { readonly state: string; readonly action: string } {
  const at = reply.indexOf(separator);
  if (at < 0) return { state: "", action: reply.trim() };
  return { state: reply.slice(0, at).trim(), action: reply.slice(at + separator.length).trim() };
}

const firstWords = (text: string, most: number): string =>
  text.split(/\s+/).filter(Boolean).slice(0, most).join(" ");

/**
 * Every reply is `state | action`. What the agent sees at turn t is the whole conversation
 *
 *     c[t] = (prompt, state[t − 1] | action[t − 1], observation[t − 1], "n left")          n: turns left, this one included
 *
 * so the state is its only memory, state tokens are actions like others, and training uses the exact prompt of every turn.
 * The environment receives only the action.
 * Paper: "MEM1: Learning to Synergize Memory and Reasoning for Efficient Long-Horizon Agents".
 */
export function constantMemory(environment: Environment, options: ConstantMemoryOptions = {}): Environment {
  const { words = 64, separator = "|" } = options;
  demand(isWhole(words, 0, 100_000), "constantMemory: words", words, "a whole number from 0 to 100000");
  const {
    verify,
    critique: _critique,
    expert: _expert,
    flawed: _flawed,
    vocabulary,
    limits,
    ...rest
  } = environment;
  return defineEnvironment({
    ...rest,
    name: `constant-memory-${environment.name}`,
    summary: `${environment.summary}; only a written state outlasts a turn`,
    abilities: new Set(
      [...environment.abilities].filter((ability) => ability !== "expert" && ability !== "legal"),
    ),
    limits: { ...limits, actionTokens: limits.actionTokens + words + 1 },
    ...(vocabulary && {
      vocabulary: () => [
        ...vocabulary(),
        separator,
        "left",
        ...Array.from({ length: limits.turns }, (_, i) => `${i + 1}`),
      ],
    }),
    start: async (task, random: Random) =>
      remembering(task, await environment.start(task, random), {
        words,
        separator,
        turns: limits.turns,
      }),
    ...(verify && {
      verify: (task: Task, trajectory) =>
        verify(task, {
          ...trajectory,
          turns: trajectory.turns.map((turn) => ({
            ...turn,
            action: { ...turn.action, content: stateAndAction(turn.action.content, separator).action },
          })),
        }),
    }),
  });
}

function remembering(
  task: Task,
  inner: Episode,
  limits: { readonly words: number; readonly separator: string; readonly turns: number },
): Episode {
  const { words, separator, turns } = limits;
  let last: readonly Message[] = [];
  let done = 0;
  return {
    async observe() {
      const { role, observation } = await inner.observe();
      const { legal: _legal, messages, ...seen } = observation;
      const left: Message = { role: "user", content: `${turns - done} left` };
      const before = observation.whole ? [] : [...task.prompt, ...last];
      return { role, observation: { ...seen, messages: [...before, ...messages, left], whole: true } };
    },
    async act(action): Promise<Step> {
      const { state, action: content } = stateAndAction(action.content, separator);
      const written = `${firstWords(state, words)} ${separator} ${content}`.trim();
      // a tool result needs its call in the context
      const { toolCalls } = action;
      last = [{ role: "assistant", content: written, ...(toolCalls && { toolCalls }) }];
      done++;
      return await inner.act({ ...action, content });
    },
    close: async () => inner.close?.(),
  };
}
