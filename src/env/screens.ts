/** An app made of screens: icons lead from screen to screen, and a named screen is to be found. */
import { type Random, randomStream, shuffled } from "../core/random.ts";
import type { Message, Task } from "../core/words.ts";
import { defineEnvironment, type Environment } from "./environment.ts";
import { machine } from "./machine.ts";

/** Settings of {@link screens}. */
export interface ScreensOptions {
  /** Screens of an app, 4 to 16. Default 12. */
  readonly screens?: number;
  /** Icons on each screen, 2 to 9. Default 4. */
  readonly icons?: number;
  /** Share of the screens without any icon, from which back alone leads on. Default 0.5. */
  readonly leaves?: number;
  /** Apps that are practised in. Default 4. */
  readonly apps?: number;
  /** Apps of each kind that nobody practises in. Default 6. */
  readonly unseen?: number;
  /** Tasks in each app practised in; there and in unseen ones, a third as many are asked later. Default 24. */
  readonly perApp?: number;
  /** How an icon is meant: by a point within its box, as in "click 3 7", or by its name, as in "click moon". Default "point". */
  readonly pointing?: "point" | "name";
  /** Whether every action is also paid `onPath`, 1 or 0, for being on a shortest way. Default false. */
  readonly rateSteps?: boolean;
  /** Where apps and tasks come from. Default 1. */
  readonly seed?: number;
}

const titles =
  "desk inbox gallery player map shop wallet notes clock files chat profile radio weather store games";
const names = "star leaf drop moon sun key bell lamp cup tree".split(" ");
const otherNames = "rose boat fish coin bird rock wave fire snow seed".split(" ");

/** Cells along each side of a screen; an icon has a ninth of it to itself. */
const width = 12;

interface Icon {
  readonly name: string;
  /** Screen that it leads to. */
  readonly to: string;
  /** Corners, both within the box. */
  readonly box: readonly [left: number, top: number, right: number, bottom: number];
}
/** Icons by screen. */
type App = ReadonlyMap<string, readonly Icon[]>;

interface State {
  readonly screen: string;
  /** Screens gone through, the latest last. */
  readonly trail: readonly string[];
  /** Icons clicked so far, as screen and name. */
  readonly tried: readonly string[];
  readonly turn: number;
}

/**
 * One task: from a screen to another, by "click", "back" and "finish". A click on no icon, and what is no action,
 * changes nothing; back returns to the screen before; finish ends the episode, and is right on the screen asked for.
 * Icons that were clicked before are marked as tried. Rewards: `outcome` 1 or 0 at the end, and with `rateSteps` also
 * `onPath`, 1 for a step on any shortest way, going back included, and for a finish at its end, else 0. An episode of a task d actions long may
 * take 2 d + 5. Nothing is random. Splits: "train", in the same apps "validation" and "test" with other pairs of
 * screens, "unseen graph" with other apps, and "unseen icons" with other apps and names. The flawed player clicks at
 * random and finishes where it should.
 * Paper: "GUI Exploration Lab: Enhancing Screen Navigation in Agents via Multi-Turn Reinforcement Learning".
 */
export function screens(options: ScreensOptions = {}): Environment {
  const {
    screens: count = 12,
    icons = 4,
    leaves = 0.5,
    apps = 4,
    unseen = 6,
    perApp = 24,
    seed = 1,
  } = options;
  const { pointing = "point", rateSteps = false } = options;
  const pages = titles.split(" ").slice(0, count);
  const appsOf = (kind: string, size: number, from: readonly string[]): readonly App[] =>
    Array.from({ length: size }, (_, i) =>
      appOf(pages, icons, Math.floor(leaves * count), from, randomStream("screens").split(seed, kind, i)),
    );
  const known = {
    seen: appsOf("seen", apps, names),
    graph: appsOf("graph", unseen, names),
    icons: appsOf("icons", unseen, otherNames),
  };
  const few = Math.ceil(perApp / 3);
  const layout: Readonly<Record<string, { apps: keyof typeof known; from: number; to: number }>> = {
    train: { apps: "seen", from: 0, to: perApp },
    validation: { apps: "seen", from: perApp, to: perApp + few },
    test: { apps: "seen", from: perApp + few, to: perApp + 2 * few },
    "unseen graph": { apps: "graph", from: 0, to: few },
    "unseen icons": { apps: "icons", from: 0, to: few },
  };
  const tasksOf = (split: string): readonly Task[] => {
    const own = layout[split];
    if (!own) return [];
    return known[own.apps].flatMap((app, a) => {
      const pairs = pages.flatMap((from) => pages.flatMap((to) => (from === to ? [] : [{ from, to }])));
      const order = shuffled(pairs, randomStream("screens").split(seed, own.apps, a, "pairs"));
      return order.slice(own.from, own.to).map(({ from, to }, i): Task => {
        const start = startOf(app, from);
        return {
          id: `screens/${split}/${a}/${i}`,
          prompt: [{ role: "user", content: view(app, to, start, pointing) }],
          metadata: { kind: own.apps, app: a, from, to, shortest: left(app, start, to) + 1 },
          seed: randomStream("screens").split(seed, split, a, i).seed,
        };
      });
    });
  };
  const played = ({ metadata: { kind, app: index, from, to, shortest } }: Task) => {
    const app = (kind === "graph" ? known.graph : kind === "icons" ? known.icons : known.seen)[
      Number(index)
    ]!;
    return { app, to: String(to), most: 2 * Number(shortest) + 5, start: startOf(app, String(from)) };
  };
  const longest = 2 * count + 5;
  return defineEnvironment({
    name: "screens",
    summary: "find a screen of an app by its icons, going back where one led astray",
    abilities: new Set(["fork", "replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(layout),
    limits: { turns: longest, actionTokens: pointing === "point" ? 3 : 2 },
    tasks: tasksOf,
    lexicon: () => [
      titles,
      "to : ; at : ; icons : tried , click back finish",
      ...[...names, ...otherNames],
      ...(pointing === "point" ? Array.from({ length: width }, (_, i) => String(i)) : []),
      Object.values(notices).join(" "),
    ],
    expert: (task, conversation) => {
      const { app, to, start } = played(task);
      const state = conversation
        .filter(({ role }) => role === "assistant")
        .reduce((before, { content }) => after(app, before, content.trim(), pointing).next, start);
      return bestAction(app, to, state, pointing);
    },
    flawed: (task, conversation, random) => {
      const { app, to } = played(task);
      const screen = lastScreen(conversation);
      const own = app.get(screen)!;
      if (screen === to) return "finish";
      return own.length === 0
        ? "back"
        : clickOn(own[random.split(conversation.length).below(own.length)]!, pointing);
    },
    start: async (task, random) => {
      const { app, to, most, start } = played(task);
      return machine<State>(
        {
          see: (state) => ({
            messages: state.turn === 0 ? [] : [{ role: "user", content: view(app, to, state, pointing) }],
            stateKey: `${task.metadata.kind} ${task.metadata.app} to ${to} : ${[...state.trail, state.screen].join(" ")} ; ${state.tried.join(" , ")}`,
            legal: [...app.get(state.screen)!.map((icon) => clickOn(icon, pointing)), "back", "finish"],
          }),
          act: (state, action) => {
            const { next, text } = after(app, state, action, pointing);
            const finished = action === "finish";
            const right = finished && state.screen === to;
            const over = finished || next.turn >= most;
            const closer = left(app, next, to) < left(app, state, to);
            return {
              next,
              ...(text !== undefined && { text }),
              rewards: {
                ...(rateSteps && { onPath: right || closer ? 1 : 0 }),
                ...(over && { outcome: right ? 1 : 0 }),
              },
              ...(finished && {
                end: { kind: "done", reason: right ? "found" : "elsewhere", success: right },
              }),
              ...(!finished && over && { end: { kind: "truncated", limit: "turns", at: next.turn } }),
            };
          },
        },
        start,
        random,
      );
    },
    verify: async (task, { turns }) => {
      const { app, to, most, start } = played(task);
      let state: State = start;
      for (const { action } of turns.slice(0, most)) {
        const said = action.content.trim();
        if (said === "finish") return { outcome: state.screen === to ? 1 : 0 };
        state = after(app, state, said, pointing).next;
      }
      return { outcome: 0 };
    },
  });
}

/** Icons and ways at random, such that every screen can be reached from every other that has icons. */
function appOf(
  pages: readonly string[],
  icons: number,
  leaves: number,
  from: readonly string[],
  random: Random,
): App {
  for (let tried = 0; ; tried++) {
    const stream = random.split("try", tried);
    const bare = new Set(shuffled(pages, stream.split("leaves")).slice(0, leaves));
    const app = new Map(
      pages.map((page): [string, readonly Icon[]] => [
        page,
        bare.has(page)
          ? []
          : iconsOf(
              pages.filter((p) => p !== page),
              icons,
              from,
              stream.split(page),
            ),
      ]),
    );
    if (pages.every((a) => bare.has(a) || pages.every((b) => Number.isFinite(clicks(app, a, b))))) return app;
  }
}

function iconsOf(pages: readonly string[], count: number, from: readonly string[], random: Random): Icon[] {
  const [called, ways] = [shuffled(from, random), shuffled(pages, random)];
  const places = shuffled([0, 1, 2, 3, 4, 5, 6, 7, 8], random);
  return places.slice(0, count).map((place, i) => {
    const [left, top] = [(place % 3) * 4 + random.below(2), Math.floor(place / 3) * 4 + random.below(2)];
    const box = [left, top, left + 1 + random.below(2), top + 1 + random.below(2)] as const;
    return { name: called[i]!, to: ways[i]!, box };
  });
}

/** On a screen without icons one has come from somewhere. */
function startOf(app: App, screen: string): State {
  const before = [...app].find(([, icons]) => icons.some(({ to }) => to === screen))?.[0];
  const trail = app.get(screen)!.length === 0 && before !== undefined ? [before] : [];
  return { screen, trail, tried: [], turn: 0 };
}

/** Steps of a shortest way to a screen, going back included. */
function left(app: App, { screen, trail }: State, to: string): number {
  return Math.min(...[screen, ...trail.toReversed()].map((from, back) => back + clicks(app, from, to)));
}

/** Clicks of a shortest way; infinite where there is none. */
function clicks(app: App, from: string, to: string): number {
  const far = new Map([[from, 0]]);
  for (const [screen, n] of far) {
    if (screen === to) return n;
    for (const icon of app.get(screen)!) if (!far.has(icon.to)) far.set(icon.to, n + 1);
  }
  return Number.POSITIVE_INFINITY;
}

function view(app: App, to: string, { screen, tried }: State, pointing: ScreensOptions["pointing"]): string {
  const icons = app.get(screen)!.map(({ name, box }) => {
    const place = pointing === "name" ? "" : ` ${box.join(" ")}`;
    return `${name}${place}${tried.includes(`${screen} ${name}`) ? " tried" : ""}`;
  });
  return `to : ${to} ; at : ${screen} ; icons : ${icons.join(" , ")}`;
}

const clickOn = ({ name, box }: Icon, pointing: ScreensOptions["pointing"]): string =>
  pointing === "name" ? `click ${name}` : `click ${box[0]} ${box[1]}`;

const notices = { none: "no icon there", start: "no screen before", action: "say click , back or finish" };

/** What an action leads to. */
function after(
  app: App,
  state: State,
  action: string,
  pointing: ScreensOptions["pointing"],
): { readonly next: State; readonly text?: string } {
  const { screen, trail, tried } = state;
  const turn = state.turn + 1;
  if (action === "finish") return { next: { ...state, turn } };
  if (action === "back") {
    const before = trail.at(-1);
    if (before === undefined) return { next: { ...state, turn }, text: notices.start };
    return { next: { ...state, screen: before, trail: trail.slice(0, -1), turn } };
  }
  const [verb, ...at] = action.split(/\s+/);
  if (verb !== "click") return { next: { ...state, turn }, text: notices.action };
  const hit = app.get(screen)!.find(({ name, box: [left, top, right, bottom] }) => {
    if (pointing === "name") return at.length === 1 && at[0] === name;
    const [x, y] = at.map(Number);
    return at.length === 2 && x! >= left && x! <= right && y! >= top && y! <= bottom;
  });
  if (!hit) return { next: { ...state, turn }, text: notices.none };
  const known = `${screen} ${hit.name}`;
  const clicked = [...tried.filter((icon) => icon !== known), known];
  return { next: { screen: hit.to, trail: [...trail, screen], tried: clicked, turn } };
}

const lastScreen = (conversation: readonly Message[]): string =>
  /at : (\w+)/.exec(conversation.findLast(({ role }) => role === "user")?.content ?? "")?.[1] ?? "";

function bestAction(app: App, to: string, state: State, pointing: ScreensOptions["pointing"]): string {
  if (state.screen === to) return "finish";
  const icon = app.get(state.screen)!.find((icon) => 1 + clicks(app, icon.to, to) === left(app, state, to));
  return icon ? clickOn(icon, pointing) : "back";
}
