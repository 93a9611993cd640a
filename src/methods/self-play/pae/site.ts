/** A site with things on pages and ways to treat them: tasks combine a way and a thing, and skills carry over between tasks. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

const [ways, things, here, options] = [5, 18, 6, 6] as const;
const [given, heldOut] = [4, 12] as const;

const names = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${kind}${i}`);

/** A site: an environment, the things that are on it, and what was done. */
export interface Site extends Environment {
  readonly things: readonly string[];
  /** Whether the attempt did what its task asks for. */
  did(task: Task, trajectory: Trajectory): boolean;
}

/**
 * Six of 18 things are on the site, each on one of six pages; each of five ways has one of six controls. The task "v2 o7" is done by going to
 * the page of o7, and then, on what is seen as "p3 v2 o7", using the control of v2 and saying that it is done: "c4 done". Whether the page
 * was right is not told. Tasks about things that are elsewhere cannot be done. Four of the 30 tasks that can be done are given, twelve
 * are held out.
 */
export function site(seed: number): Site {
  const random = randomStream(seed).split("site");
  const on = shuffled(names("o", things), random.split("things")).slice(0, here);
  const all = shuffled(
    on.flatMap((thing) => names("v", ways).map((way) => `${way} ${thing}`)),
    random.split("tasks"),
  );
  const pageOf = (thing: string): string => `p${random.split("page", thing).below(options)}`;
  const controlOf = (way: string): string => `c${random.split("control", way).below(options)}`;
  const asked = (task: Task): readonly [way: string, thing: string] => {
    const [way = "", thing = ""] = (task.prompt.at(-1)?.content ?? "").split(" ");
    return [way, thing];
  };
  const isDone = (task: Task, page: string, last: string): boolean => {
    const [way, thing] = asked(task);
    return all.includes(`${way} ${thing}`) && page === pageOf(thing) && last === `${controlOf(way)} done`;
  };
  const did = (task: Task, { turns }: Trajectory): boolean => {
    const [page = "", last = ""] = turns.map(({ action }) => action.content.trim());
    return isDone(task, page, last);
  };
  const taskAt = (split: string, text: string): Task => ({
    id: `site/${split}/${text.replace(" ", "-")}`,
    prompt: [{ role: "user", content: text }],
    metadata: {},
    seed: randomStream(seed).split(split, text).seed,
  });
  const splits: Readonly<Record<string, readonly string[]>> = {
    train: all.slice(0, given),
    test: all.slice(given, given + heldOut),
  };
  return {
    ...defineEnvironment({
      name: "site",
      summary: "go to the page of a thing, and use the control for what is to be done with it",
      abilities: new Set(["replay", "stateKey", "expert"] as const),
      roles: ["agent"],
      splits: Object.keys(splits),
      limits: { turns: 2, actionTokens: 2 },
      vocabulary: () => [
        ...[...names("v", ways), ...names("o", things), ...names("p", options), ...names("c", options)],
        "nowhere done stuck site has",
      ],
      tasks: (split) => (splits[split] ?? []).map((text) => taskAt(split, text)),
      start: async (task, stream) =>
        machine<string | undefined>(
          {
            see: (page) => {
              const place = page === undefined ? [] : [`${page} ${asked(task).join(" ")}`];
              return {
                messages: place.map((content) => ({ role: "user", content })),
                stateKey: place[0] ?? asked(task).join(" "),
              };
            },
            act: (page, action) => {
              if (page === undefined) return { next: /^p[0-5]$/.test(action) ? action : "nowhere" };
              const success = isDone(task, page, action);
              return {
                next: page,
                rewards: { outcome: success ? 1 : 0 },
                end: { kind: "done", reason: "claimed", success },
              };
            },
          },
          undefined,
          stream,
        ),
      expert: (task, conversation) => {
        const [way, thing] = asked(task);
        return conversation.length === 1 ? pageOf(thing) : `${controlOf(way)} done`;
      },
      verify: async (task, trajectory) => ({ outcome: did(task, trajectory) ? 1 : 0 }),
    }),
    things: on,
    did,
  };
}

/** Words of the last message, and of the reply so far. */
const read = (context: readonly string[]) => {
  const from = context.lastIndexOf("<user>") + 1;
  return {
    seen: context.slice(from, context.indexOf("<end>", from)),
    reply: context.slice(context.lastIndexOf("<assistant>") + 1),
  };
};
const asks = (seen: readonly string[]): boolean => seen.includes("Write");

/**
 * Agents begin with all pages, controls and claims equally likely. A proposer begins with a way and a thing, and names a thing that it was
 * not told about e² times less often than one that it was; told about none, it names all equally often.
 */
export const siteSpeaker = (context: readonly string[], word: string): number => {
  const { seen, reply } = read(context);
  const is = (pattern: RegExp): number => (pattern.test(word) ? 0 : -1e9);
  if (asks(seen)) {
    if (reply.length === 0) return is(/^v\d$/);
    if (reply.length === 1) return is(/^o\d+$/) - (seen.includes(word) ? 0 : 2);
    return is(/^<end>$/);
  }
  if (/^v/.test(seen[0] ?? "")) return reply.length === 0 ? is(/^p\d$/) : is(/^<end>$/);
  return reply.length === 0 ? is(/^c\d$/) : is(/^(done|stuck)$/);
};

/** Half of what is learnt of a page belongs to the thing, and half to the task alone; so for controls and ways. */
export const siteReader = (context: readonly string[]): readonly string[] => {
  const { seen, reply } = read(context);
  if (asks(seen)) return ["proposal"];
  const [way, thing] = seen.slice(-2);
  if (seen.length === 2) return [`page ${thing}`, `page ${way} ${thing}`];
  return reply.length === 0 ? [`control ${way}`, `control ${way} ${thing}`] : ["claim"];
};
