/** Production prompts as tasks. Training tasks are replayed and cannot be played. */

import { mapById } from "../common/mapById.ts";
import { writeMessage } from "../common/text/toolCalls.ts";
import { WhetstoneError } from "../core/errors.ts";
import { type TrainingExample, trajectoriesOf } from "../core/trainingExamples.ts";
import type { Id, Message, Task } from "../core/types.ts";
import { defineEnvironment, type Environment } from "./environment.ts";

/** Settings of {@link loggedPrompts}. */
export interface LoggedPromptsOptions {
  /**
   * Environment for evaluation: its splits other than "train" are the held-out ones, and its texts join the vocabulary.
   * Default: a tenth of the prompts are held out.
   */
  readonly measured?: Environment;
  /** Examples whose texts join the vocabulary as well: those that a later run may learn from. Default: none. */
  readonly known?: readonly TrainingExample[];
  /** Largest length of a reply to a held-out prompt, in tokens. Default 256. */
  readonly actionTokens?: number;
}

/** One prompt in this many is held out. */
const heldOutOf = 10;

/**
 * The prompts of training examples. A past conversation cannot be continued, so episodes of "train" cannot be started; a
 * rollout replays them. Held-out prompts, "test", get one reply, which succeeds where it equals, up to blanks, a reply that
 * users wanted: a correction, a demonstration, or a preferred or well rated reply. Only prompts with such a reply are
 * included, so the success rate is the rate of agreement with users.
 */
export function loggedPrompts(
  examples: readonly TrainingExample[],
  options: LoggedPromptsOptions = {},
): Environment {
  const { measured, known = [], actionTokens = 256 } = options;
  const wanted = wantedReplies(examples);
  const all = [...mapById(examples.map(({ task }) => task)).values()];
  const isHeldOut = ({ id, seed }: Task): boolean => !measured && wanted.has(id) && seed % heldOutOf === 0;
  const train = all.filter((task) => !isHeldOut(task));
  const logged = new Set(train.map(({ id }) => id));
  return defineEnvironment({
    name: measured ? `logged+${measured.name}` : "logged",
    summary: "what people asked in production, to learn from their feedback",
    // what was asked in production has no expert
    abilities: new Set([...(measured?.abilities ?? [])].filter((ability) => ability !== "expert")),
    ...(measured?.tools ? { tools: measured.tools } : {}),
    roles: measured?.roles ?? ["agent"],
    splits: measured ? ["train", ...measured.splits.filter((split) => split !== "train")] : ["train", "test"],
    limits: measured?.limits ?? { turns: 1, actionTokens },
    tasks: (split) => {
      if (split === "train") return train;
      return measured ? measured.tasks(split) : all.filter(isHeldOut);
    },
    vocabulary: () => [...textsOf([...examples, ...known]), ...(measured?.vocabulary?.() ?? [])],
    async start(task, random) {
      if (logged.has(task.id)) throw unplayable(task.id);
      return measured ? measured.start(task, random) : oneReply(wanted.get(task.id) ?? new Set());
    },
  });
}

function unplayable(task: Id): WhetstoneError {
  return new WhetstoneError("capability.missing", {
    where: `task "${task}"`,
    got: "an attempt to play it",
    expected: "a rollout that replays it, since a past conversation cannot be continued",
    fix: "Use rollout: replayed(examples), or train with --from-feedback.",
  });
}

/** One episode of one reply. */
function oneReply(wanted: ReadonlySet<string>) {
  return {
    observe: async () => ({ role: "agent", observation: { messages: [] } }),
    act: async ({ content }: { readonly content: string }) => {
      const success = wanted.has(plain(content));
      return {
        rewards: { agreement: Number(success) },
        end: { kind: "done" as const, reason: "replied", success },
      };
    },
  };
}

/** The replies that users are known to have wanted, by task. */
function wantedReplies(examples: readonly TrainingExample[]): ReadonlyMap<Id, ReadonlySet<string>> {
  const wanted = new Map<Id, Set<string>>();
  for (const example of examples) {
    const [best] = example.kind === "conversation" ? [] : trajectoriesOf(example);
    if (!best || (example.kind === "rating" && !example.good)) continue;
    const reply = best.turns[0];
    if (!reply) continue;
    const known = wanted.get(example.task.id);
    if (known) known.add(plain(writeMessage(reply.action)));
    else wanted.set(example.task.id, new Set([plain(writeMessage(reply.action))]));
  }
  return wanted;
}

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Every text of prompts and replies. */
const textsOf = (examples: readonly TrainingExample[]): string[] =>
  examples.flatMap((example) => [
    ...example.task.prompt.map(writeMessage),
    ...trajectoriesOf(example).flatMap(({ turns }) =>
      turns.flatMap(({ prompt, action }) => [...prompt, action].map((m: Message) => writeMessage(m))),
    ),
  ]);
