/** Views that a reader keeps: a name for an address, which holds everything that is chosen on a page. Kept in this browser. */
import { signal } from "@preact/signals";

export interface View {
  readonly name: string;
  /** Path and query. */
  readonly path: string;
}

const place = "views";

/** What another version of the page, or somebody's hand, left there is no view. */
function read(): readonly View[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(place) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
}

const isView = (x: unknown): x is View =>
  typeof x === "object" &&
  x !== null &&
  "name" in x &&
  typeof x.name === "string" &&
  "path" in x &&
  typeof x.path === "string" &&
  x.path.startsWith("/") &&
  !x.path.startsWith("//");

export const views = signal(read());

function keep(next: readonly View[]): void {
  views.value = next;
  localStorage.setItem(place, JSON.stringify(next));
}

/** A view of this name is replaced. */
export const keepView = (view: View): void =>
  keep([...views.value.filter(({ name }) => name !== view.name), view]);

export const forgetView = (name: string): void => keep(views.value.filter((view) => view.name !== name));
