/** Keys that do something on a page: what they are stands where they are used, and `?` shows all that work here. */
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export interface Key {
  /** As the browser names it: "j", "ArrowRight", "?". */
  readonly key: string;
  /** What it does, in a few words. */
  readonly does: string;
  readonly act: () => void;
}

/** Of each part of the page that is shown, the latest last. */
const listening = signal<readonly (readonly Key[])[]>([]);

/** Keys that work now; of two for one key the latest. */
export const keysHere = (): readonly Key[] => {
  const byKey = new Map(listening.value.flat().map((key) => [key.key, key]));
  return [...byKey.values()];
};

/** Makes keys work while the component is shown, and from the moment it can be seen. */
export function useKeys(keys: readonly Key[]): void {
  useLayoutEffect(() => {
    listening.value = [...listening.peek(), keys];
    return () => {
      listening.value = listening.peek().filter((one) => one !== keys);
    };
  }, [keys]);
}

/** Whether what is pressed there is meant as text, or as a choice. */
const takesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && !["checkbox", "radio", "range"].includes(target.type)));

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || takesText(e.target)) return;
  if (document.querySelector("dialog[open]")) return;
  // a chart moves its cursor with the arrows
  if (e.key.startsWith("Arrow") && e.target instanceof HTMLElement && e.target.role === "slider") return;
  const found = keysHere().find(({ key }) => key === e.key);
  if (!found) return;
  e.preventDefault();
  found.act();
});
