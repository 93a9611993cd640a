/** An app of settings on pages: what an action led to is shown only when its page is opened again. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine } from "../../../env/machine.ts";

const [pages, perPage, turns] = [3, 2, 8] as const;
const settings = Array.from({ length: pages * perPage }, (_, s) => `s${s}`);
const pageNames = Array.from({ length: pages }, (_, p) => `p${p}`);
const pageOf = (setting: string): string => `p${Math.floor(settings.indexOf(setting) / perPage)}`;
const goalOf = (task: Task): string => String(task.metadata.goal);

interface State {
  readonly on: ReadonlySet<string>;
  readonly page: string | undefined;
  readonly shown: string;
  readonly turn: number;
}

/**
 * The task `turn on s3` is done when that setting is on at the end; it is off at first. `open p1` shows what is on a page as it is now,
 * `p1 : s2 on s3 off`; `toggle s3` changes a setting of the page that is open and shows only `done`. An action without effect shows
 * `nothing`. `submit`, with the numbers of observations, ends the episode and pays `outcome` 1 or 0 by the truth.
 */
export function settingsApp({ seed = 1, tasks: count = 24 } = {}): Environment {
  const splits = ["train", "test"];
  const taskAt = (split: string, index: number): Task => {
    const goal = settings[randomStream(seed).split("goal", split, index).below(settings.length)]!;
    return {
      id: `settings/${split}/${index}`,
      prompt: [{ role: "user", content: `turn on ${goal}` }],
      metadata: { goal },
      seed: randomStream(seed).split("task", split, index).seed,
    };
  };
  const begin = (task: Task): State => {
    const random = randomStream(task.seed);
    const others = settings.filter((s) => s !== goalOf(task) && random.split("on", s).next() < 0.5);
    return { on: new Set(others), page: undefined, shown: "", turn: 0 };
  };
  const acted = (task: Task, state: State, action: string) => {
    const [verb, what = ""] = action.split(/\s+/);
    const turn = state.turn + 1;
    if (verb === "submit") {
      const success = state.on.has(goalOf(task));
      const end = { kind: "done", reason: "submitted", success } as const;
      return { next: { ...state, turn }, rewards: { outcome: Number(success) }, end };
    }
    const next = { ...changed(state, verb ?? "", what), turn };
    if (turn < turns) return { next };
    return { next, rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: turns } as const };
  };
  return defineEnvironment({
    name: "settings-app",
    summary: "turn on a setting of an app, and prove it",
    abilities: new Set(["expert", "replay"] as const),
    roles: ["agent"],
    splits,
    limits: { turns, actionTokens: 5 },
    vocabulary: () => [
      "turn on off : open toggle submit done nothing",
      ...settings,
      ...pageNames,
      ...Array.from({ length: turns }, (_, k) => `${k + 1}`),
    ],
    tasks: (split) =>
      splits.includes(split) ? Array.from({ length: count }, (_, i) => taskAt(split, i)) : [],
    expert: (task, conversation) => {
      const done = conversation.filter(({ role }) => role === "assistant").length;
      const page = pageOf(goalOf(task));
      return [`open ${page}`, `toggle ${goalOf(task)}`, `open ${page}`][done] ?? "submit 3";
    },
    async verify(task, { turns: played }) {
      const end = played.reduce<State>((s, { action }) => changedBy(s, action.content.trim()), begin(task));
      const submitted = played.at(-1)?.action.content.trim().startsWith("submit") === true;
      return { outcome: Number(submitted && end.on.has(goalOf(task))) };
    },
    start: async (task, random) =>
      machine<State>(
        {
          see: ({ shown }) => ({ messages: shown === "" ? [] : [{ role: "user", content: shown }] }),
          act: (state, action) => acted(task, state, action),
        },
        begin(task),
        random,
      ),
  });
}

const changedBy = (state: State, action: string): State => {
  const [verb = "", what = ""] = action.split(/\s+/);
  return verb === "submit" ? state : changed(state, verb, what);
};

function changed(state: State, verb: string, what: string): State {
  if (verb === "open" && pageNames.includes(what)) {
    const seen = settings
      .filter((s) => pageOf(s) === what)
      .map((s) => `${s} ${state.on.has(s) ? "on" : "off"}`);
    return { ...state, page: what, shown: `${what} : ${seen.join(" ")}` };
  }
  if (verb !== "toggle" || !settings.includes(what) || pageOf(what) !== state.page) {
    return { ...state, shown: "nothing" };
  }
  const on = new Set(state.on);
  if (!on.delete(what)) on.add(what);
  return { ...state, on, shown: "done" };
}

/**
 * A rule as judge of observations: they are about the task where one shows its setting, and prove it where the last of those shows it on. Each
 * other observation confuses the judge with probability 0.1; a confused one says the opposite of success.
 */
export function proves(
  task: Task,
  shown: readonly string[],
  random: Random,
): { success: number; valid: number } {
  const goal = goalOf(task);
  const about = shown.filter((text) => text.split(" ").includes(goal));
  const confused = random.next() >= 0.9 ** (shown.length - about.length);
  const on = about.at(-1)?.includes(`${goal} on`) ?? false;
  return { success: Number(on !== confused), valid: Number(about.length > 0) };
}

/** What an agent of this app knows: what it may choose from now, and where the newest observation is that shows the task's setting. */
function understood(context: readonly string[]) {
  const goal = context[context.indexOf("turn") + 2] ?? "";
  const messages = (role: string): string[] =>
    context
      .join(" ")
      .split(`<${role}> `)
      .map((message) => message.split(" <end>")[0]!);
  const shown = messages("user").slice(2);
  const actions = messages("assistant")
    .slice(1, shown.length + 1)
    .map((said) => said.split(" "));
  const toggled = actions.filter(([verb, what]) => verb === "toggle" && what === goal).length % 2 === 1;
  const last = actions.findLastIndex(([verb, what]) => verb === "toggle" && what === goal);
  const proof = shown.findLastIndex((seen, k) => seen.includes(`${goal} `) && k > last) + 1;
  const opened = actions.flatMap(([verb, what]) => (verb === "open" && what ? [what] : []));
  const found = opened.find((page) => page === pageOf(goal));
  const begun = context.slice(context.lastIndexOf("<assistant>") + 1);
  return {
    goal,
    toggled,
    proof,
    here: opened.at(-1) === pageOf(goal),
    found,
    opened,
    begun,
    observed: shown.length,
  };
}

const known = new WeakMap<readonly string[], ReturnType<typeof understood>>();
/** The same, once for each context: an engine asks about one word at a time. */
function read(context: readonly string[]): ReturnType<typeof understood> {
  const found = known.get(context) ?? understood(context);
  known.set(context, found);
  return found;
}

/** A row for what matters of the state, and for what an action has begun with. */
export const appFeatures = (context: readonly string[]): readonly string[] => {
  const { goal, toggled, proof, here, found, opened, begun, observed } = read(context);
  const [verb] = begun;
  if (verb === undefined) return [`here ${here} toggled ${toggled} proof ${proof > 0}`];
  if (verb === "open")
    return [found ? `open ${found}` : `open after ${[...new Set(opened)].sort().join(" ")}`];
  if (verb === "toggle") return [`toggle ${goal}`];
  return [`submit proof ${proof} of ${observed} ${begun.slice(1).join(" ")}`];
};

/**
 * Every well-formed action is possible. The agent has some idea of its task: at first it looks for the page, favours the setting in question,
 * looks at what it did more often than not, and does not submit at once. A submission names as many observations as a coin says, each once.
 */
export const appPrior = (context: readonly string[], word: string): number => {
  const { goal, toggled, proof, here, found, opened, begun, observed } = read(context);
  const [verb] = begun;
  const never = -1e9;
  if (verb === undefined) {
    if (word === "open") return (toggled ? proof === 0 : !here) ? 1 : 0;
    if (word === "toggle") return here && !toggled ? 1 : 0;
    return word === "submit" ? (toggled && proof > 0 ? 1 : -1) : never;
  }
  if (verb !== "submit") {
    if (begun.length > 1) return word === "<end>" ? 0 : never;
    if (!(verb === "open" ? pageNames : settings).includes(word)) return never;
    if (verb === "toggle") return word === goal ? 1.5 : 0;
    return (found ? word === found : !opened.includes(word)) ? 1.5 : 0;
  }
  if (word === "<end>") return begun.length === 1 ? -1 : 0.5;
  const number = Number(word);
  return Number.isInteger(number) && number >= 1 && number <= observed && !begun.includes(word) ? 0 : never;
};
