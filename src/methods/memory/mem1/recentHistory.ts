/** Wraps any environment with a truncated context: the prompt and the latest messages that fit. */
import type { Message, Task } from "../../../core/types.ts";
import { demand, isWhole } from "../../../env/demand.ts";
import { defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link recentHistory}. */
export interface RecentHistoryOptions {
  /** Most words of history after the prompt; the latest observation always stays. */
  readonly words: number;
  /** What each message counts beside its words, e.g. 2 for the tokens that begin and end it. Default 0. */
  readonly perMessage?: number;
}

const lengthOf = ({ content }: Message): number => content.split(/\s+/).filter(Boolean).length;

/** The latest messages up to this many words, in order; at least the last one. */
function latest(messages: readonly Message[], words: number, perMessage: number): readonly Message[] {
  let left = words;
  let from = messages.length;
  while (from > 0) {
    left -= lengthOf(messages[from - 1]!) + perMessage;
    if (left < 0 && from < messages.length) break;
    from--;
  }
  return messages.slice(from);
}

/** What the agent sees is (prompt, the latest messages that fit, "n left"); nothing else differs. */
export function recentHistory(
  environment: Environment,
  { words, perMessage = 0 }: RecentHistoryOptions,
): Environment {
  demand(isWhole(words, 0, 1_000_000), "recentHistory: words", words, "a whole number from 0 to 1000000");
  const { expert: _expert, flawed: _flawed, vocabulary, limits, ...rest } = environment;
  const within = (task: Task, inner: Episode): Episode => {
    let history: readonly Message[] = [];
    let done = 0;
    return {
      async observe() {
        const { role, observation } = await inner.observe();
        history = observation.whole ? observation.messages : [...history, ...observation.messages];
        const left: Message = { role: "user", content: `${limits.turns - done} left` };
        const prompt = observation.whole ? [] : task.prompt;
        return {
          role,
          observation: {
            ...observation,
            messages: [...prompt, ...latest(history, words, perMessage), left],
            whole: true,
          },
        };
      },
      async act(action) {
        history = [...history, { role: "assistant", content: action.content }];
        done++;
        return await inner.act(action);
      },
      close: async () => inner.close?.(),
    };
  };
  return defineEnvironment({
    ...rest,
    name: `recent-history-${environment.name}`,
    summary: `${environment.summary}; of the history only the last ${words} words are seen`,
    abilities: new Set([...environment.abilities].filter((ability) => ability !== "expert")),
    limits,
    ...(vocabulary && {
      vocabulary: () => [
        ...vocabulary(),
        "left",
        ...Array.from({ length: limits.turns }, (_, i) => `${i + 1}`),
      ],
    }),
    start: async (task, random) => within(task, await environment.start(task, random)),
  });
}
