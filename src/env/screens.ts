/** GUI navigation: icons lead from screen to screen of an app, and the agent has to find a named screen. */
import { randomStream, shuffled } from "../core/random.ts";
import type { Message, Task } from "../core/types.ts";
import { type App, appOf, width } from "./apps/app.ts";
import {
  after,
  bestAction,
  clickOn,
  left,
  notices,
  type Pointing,
  type State,
  startOf,
  view,
} from "./apps/visit.ts";
import { defineEnvironment, type Environment } from "./environment.ts";
import { machine, type Rules } from "./machine.ts";

/** Settings of {@link screens}. */
export interface ScreensOptions {
  /** Screens of an app, 4 to 16. Default 12. */
  readonly screens?: number;
  /** Icons on each screen, 2 to 9. Default 4. */
  readonly icons?: number;
  /** Share of screens without icons, which only "back" leaves. Default 0.5. */
  readonly leaves?: number;
  /** Number of training apps. Default 4. */
  readonly apps?: number;
  /** Number of held-out apps of each kind. Default 6. */
  readonly unseen?: number;
  /** Training tasks in each training app; every held-out split has a third as many per app. Default 24. */
  readonly perApp?: number;
  /** How actions refer to an icon: by a point within its box, as in "click 3 7", or by its name, as in "click moon". Default "point". */
  readonly pointing?: Pointing;
  /** Whether every action also gets the reward `onPath`, 1 or 0, for being on a shortest path. Default false. */
  readonly rateSteps?: boolean;
  /** Seed of apps and tasks. Default 1. */
  readonly seed?: number;
}

const titles =
  "desk inbox gallery player map shop wallet notes clock files chat profile radio weather store games";
const names = "star leaf drop moon sun key bell lamp cup tree".split(" ");
const otherNames = "rose boat fish coin bird rock wave fire snow seed".split(" ");

/**
 * A task is to go from one screen to another, by "click", "back" and "finish". A click beside all icons, or an invalid
 * action, changes nothing; "back" returns to the previous screen; "finish" ends the episode, and is right on the target
 * screen. Icons that were clicked before are marked as tried. Rewards: `outcome` 1 or 0 at the end, and with `rateSteps` also
 * `onPath`, 1 for a step on any shortest path, going back included, and for a finish at its end, else 0. A task whose
 * shortest solution has d actions allows 2 d + 5. Deterministic. Splits: "train"; in the same apps "validation" and "test"
 * with other pairs of screens; "unseen graph" with other apps; "unseen icons" with other apps and names. The flawed player
 * clicks at random and finishes correctly.
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
  const played = ({ metadata: { kind, app: index, from, to, shortest } }: Task): PlayedTask => {
    const app = (kind === "graph" ? known.graph : kind === "icons" ? known.icons : known.seen)[
      Number(index)
    ]!;
    return { app, to: String(to), most: 2 * Number(shortest) + 5, start: startOf(app, String(from)) };
  };
  const longest = 2 * count + 5;
  return defineEnvironment({
    name: "screens",
    summary: "find a screen of an app by its icons, going back where one led astray",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(layout),
    limits: { turns: longest, actionTokens: pointing === "point" ? 3 : 2 },
    tasks: tasksOf,
    vocabulary: () => [
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
      const game = played(task);
      return machine<State>(screenRules(task, game, pointing, rateSteps), game.start, random);
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

/** A task's app, its target screen, and the most actions that it allows. */
interface PlayedTask {
  readonly app: App;
  readonly to: string;
  readonly most: number;
  readonly start: State;
}

const screenRules = (
  task: Task,
  { app, to, most }: PlayedTask,
  pointing: Pointing,
  rateSteps: boolean,
): Rules<State> => ({
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
});

const lastScreen = (conversation: readonly Message[]): string =>
  /at : (\w+)/.exec(conversation.findLast(({ role }) => role === "user")?.content ?? "")?.[1] ?? "";
