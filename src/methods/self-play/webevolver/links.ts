/** Pages with links whose targets are hidden: find a page, and stop there. */
import { randomStream } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

const [pages, links, turns, given] = [20, 4, 7, 10] as const;
const names = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${kind}${i}`);
export const linkWords = names("l", links);
export const stopsHere = (action: string): boolean => action === "stop";

/** The page to be found, and the page of the last observation. */
const goalOf = ({ prompt }: Task): string => prompt[0]!.content.split(" ")[1]!;
const startOf = ({ prompt }: Task): string => prompt[1]!.content.split(" ")[1]!;

/** A site of links: an environment, and tasks for any page and any start. */
export interface Links extends Environment {
  readonly pages: readonly string[];
  /** Where a link leads. */
  target(page: string, link: string): string;
  query(goal: number, start: number): Task;
}

/**
 * The task "find p7", "at p3" is done by saying "stop" at p7, which pays 1; elsewhere it ends the episode for nothing. Each page has four links, of which the
 * first leads to the next page and the others anywhere. Training tasks look for the first ten pages, held-out ones for all twenty, from other pages.
 */
export function siteOfLinks(seed: number): Links {
  const random = randomStream(seed).split("links");
  const target = (page: string, link: string): string => {
    const at = Number(page.slice(1));
    return link === "l0" ? `p${(at + 1) % pages}` : `p${random.split(page, link).below(pages)}`;
  };
  /** Whatever is no link leads nowhere. */
  const after = (page: string, action: string): string =>
    linkWords.includes(action) ? target(page, action) : page;
  const query = (goal: number, start: number): Task => ({
    id: `links/${goal}/${start}`,
    prompt: [
      { role: "user", content: `find p${goal}` },
      { role: "user", content: `at p${start}` },
    ],
    metadata: {},
    seed: randomStream(seed).split("query", goal, start).seed,
  });
  const some = (goals: number, start: (goal: number) => number): readonly Task[] =>
    Array.from({ length: goals }, (_, goal) => query(goal, start(goal))).filter(
      (task) => goalOf(task) !== startOf(task),
    );
  const splits: Readonly<Record<string, readonly Task[]>> = {
    train: [3, 8].flatMap((by) => some(given, (goal) => (7 * goal + by) % pages)),
    test: some(pages, (goal) => (3 * goal + 5) % pages),
  };
  /** The first link of a shortest way, or "stop". */
  const way = (page: string, goal: string): string => {
    const seen = new Set([page]);
    let ways = [{ page, first: "stop" }];
    while (ways.length > 0) {
      const there = ways.find((one) => one.page === goal);
      if (there) return there.first;
      ways = ways.flatMap((one) =>
        linkWords.flatMap((link) => {
          const to = target(one.page, link);
          if (seen.has(to)) return [];
          seen.add(to);
          return [{ page: to, first: one.page === page ? link : one.first }];
        }),
      );
    }
    return "stop";
  };
  return {
    pages: names("p", pages),
    target,
    query,
    ...defineEnvironment({
      name: "links",
      summary: "follow links to a page, and stop there",
      abilities: new Set(["replay", "stateKey", "expert"] as const),
      roles: ["agent"],
      splits: Object.keys(splits),
      limits: { turns, actionTokens: 1 },
      vocabulary: () => ["find at stop", ...linkWords, ...names("p", pages)],
      tasks: (split) => splits[split] ?? [],
      start: async (task, stream) =>
        machine<{ readonly page: string; readonly taken: number }>(
          {
            see: ({ page, taken }) => ({
              messages: taken > 0 ? [{ role: "user", content: `at ${page}` }] : [],
              stateKey: `${goalOf(task)} ${page}`,
            }),
            act: ({ page, taken }, action) => {
              const end = { kind: "truncated", limit: "turns", at: turns } as const;
              if (!stopsHere(action))
                return {
                  next: { page: after(page, action), taken: taken + 1 },
                  ...(taken + 1 === turns && { rewards: { outcome: 0 }, end }),
                };
              const success = page === goalOf(task);
              return {
                next: { page, taken: taken + 1 },
                rewards: { outcome: Number(success) },
                end: { kind: "done", reason: "stopped", success },
              };
            },
          },
          { page: startOf(task), taken: 0 },
          stream,
        ),
      expert: (task, conversation) =>
        way(conversation.findLast((m) => m.role === "user")!.content.split(" ")[1]!, goalOf(task)),
      verify: async (task, { turns: taken }) => {
        const said = taken.map(({ action }) => action.content.trim());
        const end = said.slice(0, -1).reduce(after, startOf(task));
        return { outcome: Number(stopsHere(said.at(-1) ?? "") && end === goalOf(task)) };
      },
    }),
  };
}

/** What a judge can see, imagined or not: whether the agent stopped where it was asked to go. */
export const isThere = (task: Task, { turns: taken }: Trajectory): boolean => {
  const last = taken.at(-1);
  return (
    last !== undefined &&
    stopsHere(last.action.content.trim()) &&
    last.prompt.at(-1)?.content === `at ${goalOf(task)}`
  );
};

/** Words of the goal and of the page that is seen last. */
const read = (context: readonly string[]) => ({
  goal: context[context.indexOf("find") + 1],
  page: context[context.lastIndexOf("at") + 1],
});
/** All links begin equally likely; a policy stops where it is asked to go, and with a tenth of that weight elsewhere. */
export const linkSpeaker = (context: readonly string[], word: string): number => {
  const { goal, page } = read(context);
  if (word === "stop") return page === goal ? 3 : Math.log(0.1);
  return linkWords.includes(word) ? 0 : -1e9;
};
/** A row for each goal at each page. */
export const linkReader = (context: readonly string[]): readonly string[] => {
  const { goal, page } = read(context);
  return [`${goal} ${page}`];
};
