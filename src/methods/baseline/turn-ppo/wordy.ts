/** Wraps an environment so that every action begins with words that are ignored. */
import type { Message, Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link wordy}. */
export interface WordyOptions {
  /** Words before each action. Default 2. */
  readonly words?: number;
  /** Different words to choose from. Default 6. */
  readonly vocabulary?: number;
}

/**
 * The same tasks, observations and rewards, but each action follows some words of thought: `um0 um3 go north` is
 * `go north`. Any words in front count as thought. The actions stay as hard to learn as before, but the number of token
 * states between two observations grows with every word.
 */
export function wordy(environment: Environment, options: WordyOptions = {}): Environment {
  const { words = 2, vocabulary: thoughtWords = 6 } = options;
  const thoughts = Array.from({ length: thoughtWords }, (_, i) => `um${i}`);
  const spoken = (text: string): string => text.trim().split(/\s+/).slice(words).join(" ");
  const heard = (message: Message): Message =>
    message.role === "assistant" ? { ...message, content: spoken(message.content) } : message;

  const within = (episode: Episode): Episode => ({
    ...episode,
    act: (action) => episode.act({ ...action, content: spoken(action.content) }),
  });
  const { vocabulary, expert, flawed, verify, limits, ...rest } = environment;
  const thinking =
    (player: NonNullable<Environment["expert"]>): NonNullable<Environment["expert"]> =>
    (task, conversation, random) => {
      const before = Array.from(
        { length: words },
        (_, i) => thoughts[random.split("thought", i).below(thoughtWords)]!,
      );
      return [...before, player(task, conversation.map(heard), random)].join(" ");
    };
  return defineEnvironment({
    ...rest,
    name: `wordy-${environment.name}`,
    summary: `${environment.summary}; each action after some words of thought`,
    limits: { ...limits, actionTokens: limits.actionTokens + words },
    start: async (task, random) => within(await environment.start(task, random)),
    ...(vocabulary && { vocabulary: () => [...vocabulary(), ...thoughts] }),
    ...(expert && { expert: thinking(expert) }),
    ...(flawed && { flawed: thinking(flawed) }),
    ...(verify && {
      verify: (task: Task, trajectory) =>
        verify(task, {
          ...trajectory,
          turns: trajectory.turns.map((turn) => ({
            ...turn,
            prompt: turn.prompt.map(heard),
            action: heard(turn.action),
          })),
        }),
    }),
  });
}
