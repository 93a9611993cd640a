/** A small web site: pages with links, a form to fill on one of them and to submit on another. */
import { randomStream, shuffled } from "../core/random.ts";
import type { Message, Task } from "../core/types.ts";
import { defineEnvironment, type Environment } from "./environment.ts";
import { machine } from "./machine.ts";

/** Settings of {@link pages}. */
export interface PagesOptions {
  /** Pages of the site, 4 to 16. Default 12. */
  readonly pages?: number;
  /** Links on each page. Default 4. */
  readonly links?: number;
  /** Number of training tasks, and of held-out tasks. Default 4. */
  readonly tasks?: number;
  /** Default 12. */
  readonly turns?: number;
  /** Seed of links and tasks. Default 1. */
  readonly seed?: number;
}

const titles =
  "home search cart account orders help offers news stores jobs terms gifts brands wishes returns about";

/** Target of the only link that leaves the site. */
const away = "elsewhere";

interface State {
  readonly page: string;
  readonly filled: boolean;
  /** Message about the last action, if any; shown above the page. */
  readonly notice: string;
  readonly turn: number;
}

/**
 * Fill the field on one page, then submit on another. Links are numbered; one page has a link that leaves the site, from
 * where every link leads home. The message about an action without effect begins with "invalid" where there is no such
 * action or link, with "error" where the page refuses it, and with "away" where it left the site. Reward: `outcome` 1 or 0
 * at the end. The state key is the page and the field; a task's `milestones` are the keys of the states that every solution
 * passes through. Deterministic. The flawed player follows links at random, but uses the forms when it sees them.
 */
export function pages(options: PagesOptions = {}): Environment {
  const { pages: count = 12, links = 4, tasks = 4, turns = 12, seed = 1 } = options;
  const names = titles.split(" ").slice(0, count);
  const site = siteOf(names, links, seed);
  const sizes: Readonly<Record<string, number>> = { train: tasks, test: tasks };
  // distinct pairs of pages, one per task
  const pairs = shuffled(
    names.flatMap((form) =>
      names.flatMap((desk) => (form === desk || form === names[0] ? [] : [{ form, desk }])),
    ),
    randomStream("pages").split(seed, "tasks"),
  ).filter(({ form, desk }) => {
    const way = [names[0]!, form, desk].map((page, i, all) =>
      i === 0 ? 0 : distance(site, all[i - 1]!, page),
    );
    return way.reduce((a, b) => a + b, 0) + 2 <= turns;
  });
  const taskAt = (split: string, index: number): Task => {
    const { form, desk } = pairs[split === "train" ? index : tasks + index]!;
    const start: State = { page: names[0]!, filled: false, notice: "", turn: 0 };
    const milestones = [
      keyOf({ page: form, filled: false }),
      keyOf({ page: form, filled: true }),
      keyOf({ page: desk, filled: true }),
    ];
    return {
      id: `pages/${split}/${index}`,
      prompt: [{ role: "user", content: view(site, form, desk, start) }],
      metadata: { form, desk, milestones },
      seed: randomStream("pages").split(seed, split, index).seed,
    };
  };
  const asked = ({ metadata }: Task) => ({ form: String(metadata.form), desk: String(metadata.desk) });
  const start: State = { page: names[0]!, filled: false, notice: "", turn: 0 };
  return defineEnvironment({
    name: "pages",
    summary: "find the page with the form on a small web site, fill it, and submit it on another page",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns, actionTokens: 1 },
    vocabulary: () => [
      `${titles} ${away}`,
      "task : fill on , submit on ; page : ; field : empty full ; links :",
      ...site.get(names[0]!)!.map((_, i) => `link${i + 1}`),
      "fill submit",
      ...Object.values(notices),
    ],
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    expert: (task, conversation) => nextAction(site, task, lastPage(conversation)),
    flawed: (task, conversation, random) => {
      const best = nextAction(site, task, lastPage(conversation));
      return best.startsWith("link") ? `link${1 + random.split(conversation.length).below(links)}` : best;
    },
    start: async (task, random) =>
      machine<State>(
        {
          see: (state) => ({
            messages:
              state.turn === 0
                ? []
                : [{ role: "user", content: view(site, asked(task).form, asked(task).desk, state) }],
            stateKey: keyOf(state),
            legal: [...site.get(state.page)!.map((_, i) => `link${i + 1}`), "fill", "submit"],
          }),
          act: (state, action) => {
            const { next, sent } = after(site, asked(task), state, action);
            const text = next.notice === "" ? {} : { text: next.notice };
            if (sent)
              return {
                next,
                rewards: { outcome: 1 },
                end: { kind: "done", reason: "submitted", success: true },
              };
            if (next.turn < turns) return { next, ...text };
            return {
              next,
              ...text,
              rewards: { outcome: 0 },
              end: { kind: "truncated", limit: "turns", at: turns },
            };
          },
        },
        start,
        random,
      ),
    verify: async (task, { turns: made }) => {
      let state = start;
      for (const { action } of made.slice(0, turns)) {
        const { next, sent } = after(site, asked(task), state, action.content.trim());
        if (sent) return { outcome: 1 };
        state = next;
      }
      return { outcome: 0 };
    },
  });
}

/** The pages that the links of each page lead to. */
type Site = ReadonlyMap<string, readonly string[]>;

const keyOf = ({ page, filled }: Pick<State, "page" | "filled">): string =>
  `${page} ${filled ? "full" : "empty"}`;

const notices = {
  action: "invalid : no such action",
  field: "error : no field here",
  twice: "error : the field is full",
  empty: "error : nothing to submit",
  desk: "error : nothing is taken here",
  away: "away : another site",
};

/** Random links such that every page can be reached from every other; the last link of the last page leaves the site. */
function siteOf(names: readonly string[], links: number, seed: number): Site {
  for (let tried = 0; ; tried++) {
    const random = randomStream("pages").split(seed, "site", tried);
    const site = new Map(
      names.map((name) => [
        name,
        shuffled(
          names.filter((n) => n !== name),
          random.split(name),
        ).slice(0, links),
      ]),
    );
    site.get(names.at(-1)!)!.splice(-1, 1, away);
    site.set(
      away,
      Array.from({ length: links }, () => names[0]!),
    );
    if (names.every((from) => names.every((to) => Number.isFinite(distance(site, from, to))))) return site;
  }
}

/** Number of clicks from one page to another; infinite where there is no path. */
function distance(site: Site, from: string, to: string): number {
  const seen = new Map([[from, 0]]);
  for (const [page, far] of seen) {
    if (page === to) return far;
    for (const next of site.get(page) ?? []) if (!seen.has(next)) seen.set(next, far + 1);
  }
  return Number.POSITIVE_INFINITY;
}

function view(site: Site, form: string, desk: string, { page, filled, notice }: State): string {
  const task = `task : fill on ${form} , submit on ${desk}`;
  const there = `page : ${page} ; field : ${filled ? "full" : "empty"} ; links : ${site.get(page)!.join(" ")}`;
  return `${notice === "" ? "" : `${notice} ; `}${task} ; ${there}`;
}

/** The next state, and whether the action was the right submission. */
function after(
  site: Site,
  { form, desk }: { readonly form: string; readonly desk: string },
  state: State,
  action: string,
): { readonly next: State; readonly sent: boolean } {
  const { page, filled } = state;
  const stays = (notice: string) => ({ next: { ...state, notice, turn: state.turn + 1 }, sent: false });
  const goes = (to: Partial<State>) => ({
    next: { ...state, notice: "", ...to, turn: state.turn + 1 },
    sent: false,
  });
  if (action === "fill") {
    if (page !== form) return stays(notices.field);
    return filled ? stays(notices.twice) : goes({ filled: true });
  }
  if (action === "submit") {
    if (!filled) return stays(notices.empty);
    return page === desk ? { ...goes({}), sent: true } : stays(notices.desk);
  }
  const link = /^link(\d+)$/.exec(action)?.[1];
  const to = link === undefined ? undefined : site.get(page)?.[Number(link) - 1];
  if (to === undefined) return stays(notices.action);
  return goes({ page: to, notice: to === away ? notices.away : "" });
}

/** The page and the field of the last observation. */
function lastPage(conversation: readonly Message[]): Pick<State, "page" | "filled"> {
  const seen = conversation.findLast(({ role }) => role === "user")?.content ?? "";
  const [, page = "", field = ""] = /page : (\w+) ; field : (\w+)/.exec(seen) ?? [];
  return { page, filled: field === "full" };
}

function nextAction(
  site: Site,
  { metadata }: Task,
  { page, filled }: Pick<State, "page" | "filled">,
): string {
  const to = String(filled ? metadata.desk : metadata.form);
  if (page === to) return filled ? "submit" : "fill";
  const links = site.get(page) ?? [];
  const left = links.map((link) => distance(site, link, to));
  return `link${1 + left.indexOf(Math.min(...left))}`;
}
