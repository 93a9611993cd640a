/** One visit to an app: where one is, how one came there, and what was tried. */
import { type App, clicks, type Icon } from "./app.ts";

/** How an icon is meant: by a point within its box, or by its name. */
export type Pointing = "point" | "name";

/** The state of a visit. */
export interface State {
  readonly screen: string;
  /** Screens gone through, the latest last. */
  readonly trail: readonly string[];
  /** Icons clicked so far, as screen and name. */
  readonly tried: readonly string[];
  readonly turn: number;
}

/** On a screen without icons one has come from somewhere. */
export function startOf(app: App, screen: string): State {
  const before = [...app].find(([, icons]) => icons.some(({ to }) => to === screen))?.[0];
  const trail = app.get(screen)!.length === 0 && before !== undefined ? [before] : [];
  return { screen, trail, tried: [], turn: 0 };
}

/** Steps of a shortest way to a screen, going back included. */
export function left(app: App, { screen, trail }: State, to: string): number {
  return Math.min(...[screen, ...trail.toReversed()].map((from, back) => back + clicks(app, from, to)));
}

/** What is seen of a screen. */
export function view(app: App, to: string, { screen, tried }: State, pointing: Pointing): string {
  const icons = app.get(screen)!.map(({ name, box }) => {
    const place = pointing === "name" ? "" : ` ${box.join(" ")}`;
    return `${name}${place}${tried.includes(`${screen} ${name}`) ? " tried" : ""}`;
  });
  return `to : ${to} ; at : ${screen} ; icons : ${icons.join(" , ")}`;
}

/** The action that clicks on an icon. */
export const clickOn = ({ name, box }: Icon, pointing: Pointing): string =>
  pointing === "name" ? `click ${name}` : `click ${box[0]} ${box[1]}`;

/** What is said of an action that came to nothing. */
export const notices = {
  none: "no icon there",
  start: "no screen before",
  action: "say click , back or finish",
};

/** What an action leads to. */
export function after(
  app: App,
  state: State,
  action: string,
  pointing: Pointing,
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

/** A step of a shortest way; finish at its end. */
export function bestAction(app: App, to: string, state: State, pointing: Pointing): string {
  if (state.screen === to) return "finish";
  const icon = app.get(state.screen)!.find((icon) => 1 + clicks(app, icon.to, to) === left(app, state, to));
  return icon ? clickOn(icon, pointing) : "back";
}
