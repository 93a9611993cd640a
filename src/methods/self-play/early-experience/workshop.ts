/** Things of hidden kinds, and tools that do to a thing what its kind makes of them. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

const [kinds, things, states, shown] = [4, 24, 5, 2] as const;

const names = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${kind}${i}`);
export const toolWords = names("t", states);

/** A workshop: an environment, and what a tool does. */
export interface Workshop extends Environment {
  /** The tool that does what a task asks for. */
  right(task: Task): string;
  /** State of a task's thing after a tool, or undefined for what is no tool. */
  after(task: Task, tool: string): string | undefined;
}

/**
 * The task "make o7 s3" is done by the one of five tools that brings o7 into state s3. A thing has one of four kinds, which is not told: a kind is
 * which tool brings about which state, a permutation. After a wrong tool its state is seen ("o7 is s1"), and there is a second try. A
 * reply's last word is the tool. Of each of 24 things two of five states are asked for in training, and the other three at the test: whoever knows
 * which things are alike knows those too.
 * @param more tasks of every thing that are asked for in training beside the two; there are fewer at the test then.
 */
export function workshop(seed: number, more: readonly number[] = []): Workshop {
  const random = randomStream(seed).split("workshop");
  const kindOf = shuffled(
    Array.from({ length: things }, (_, thing) => thing % kinds),
    random.split("kinds"),
  );
  const effects = Array.from({ length: kinds }, (_, kind) =>
    shuffled(names("s", states), random.split("effects", kind)),
  );
  const asked = (task: Task): readonly [thing: number, state: string] => {
    const [, thing = "", state = ""] = task.prompt[0]!.content.split(" ");
    return [Number(thing.slice(1)), state];
  };
  const effectsOn = (task: Task): readonly string[] => effects[kindOf[asked(task)[0]]!]!;
  const after = (task: Task, tool: string): string | undefined => effectsOn(task)[toolWords.indexOf(tool)];
  const right = (task: Task): string => toolWords[effectsOn(task).indexOf(asked(task)[1])]!;
  const tasksOf = (split: "train" | "test"): readonly Task[] =>
    Array.from({ length: things }, (_, thing) => {
      const order = shuffled(names("s", states), random.split("states", thing));
      const known = order.filter((_, i) => i < shown || more.includes(i));
      return (split === "train" ? known : order.filter((state) => !known.includes(state))).map(
        (state): Task => ({
          id: `workshop/${thing}/${state}`,
          prompt: [{ role: "user", content: `make o${thing} ${state}` }],
          metadata: {},
          seed: randomStream(seed).split("task", thing, state).seed,
        }),
      );
    }).flat();
  return {
    right,
    after,
    ...defineEnvironment({
      name: "workshop",
      summary: "bring things of hidden kinds into a state by the right tool",
      abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
      roles: ["agent"],
      splits: ["train", "test"],
      limits: { turns: 2, actionTokens: 12 },
      vocabulary: () => ["make is same", ...toolWords, ...names("o", things), ...names("s", states)],
      tasks: (split) => (split === "train" || split === "test" ? tasksOf(split) : []),
      start: async (task, stream) =>
        machine<{ readonly state: string | undefined; readonly tries: number }>(
          {
            see: ({ state, tries }) => ({
              messages:
                tries > 0 ? [{ role: "user", content: `o${asked(task)[0]} is ${state ?? "same"}` }] : [],
              stateKey: `${task.id} ${tries > 0 ? state : ""}`,
              legal: toolWords,
            }),
            act: ({ tries }, reply) => {
              const state = after(task, lastWord(reply));
              const success = state === asked(task)[1];
              return {
                next: { state, tries: tries + 1 },
                rewards: { outcome: Number(success) },
                ...((success || tries === 1) && {
                  end: { kind: "done", reason: success ? "right" : "wrong", success },
                }),
              };
            },
          },
          { state: undefined, tries: 0 },
          stream,
        ),
      expert: right,
      verify: async (task, { turns }) => {
        const last = turns.at(-1)?.action.content ?? "";
        return { outcome: Number(lastWord(last) === right(task)) };
      },
    }),
  };
}

/** Where a reply says what to do: reasoning may come before. */
export const lastWord = (reply: string): string => reply.trim().split(/\s+/).at(-1) ?? "";

/** Words of the task, and of the reply so far. */
const read = (context: readonly string[]) => {
  const at = context.lastIndexOf("make");
  const reply = context.slice(context.lastIndexOf("<assistant>") + 1);
  return { thing: context[at + 1], wanted: context[at + 2], reply };
};

/** A reply is a tool, or "after t1 : o7 is s2 so" and a tool; all ways to go on begin equally likely. */
export const workshopSpeaker = (context: readonly string[], word: string): number => {
  const { thing, reply } = read(context);
  const states = ["same", "s0", "s1", "s2", "s3", "s4"];
  const ways = [
    [...toolWords, "after"],
    toolWords,
    [":"],
    [thing],
    ["is"],
    states,
    ["so"],
    toolWords,
    ["<end>"],
  ];
  const next = reply.length === 1 && reply[0] !== "after" ? ["<end>"] : (ways[reply.length] ?? ["<end>"]);
  return next.includes(word) ? 0 : -1e9;
};

/**
 * What is learnt of an action belongs to the wanted state, and to thing and wanted state together; what is learnt of a tool's effect to thing and tool; and after a
 * reflection on what was seen also to tool, state and wanted state, whatever the thing.
 */
export const workshopReader = (context: readonly string[]): readonly string[] => {
  const { thing, wanted, reply } = read(context);
  const [, tried, , , , seen] = reply;
  const acting = [`act ${wanted}`, `act ${thing} ${wanted}`];
  if (reply.length === 0) return ["start", ...acting];
  if (reply.length === 5) return [`effect ${tried}`, `effect ${thing} ${tried}`];
  return reply.length === 7 ? [...acting, `so ${tried} ${seen} ${wanted}`] : [`word ${reply.length}`];
};
