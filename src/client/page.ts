/** Whether we run in a page, and when its reader leaves it. */

interface Listens {
  addEventListener(type: string, heard: () => void): void;
  removeEventListener(type: string, heard: () => void): void;
}
interface Page extends Listens {
  readonly visibilityState: string;
}

const listens = (x: unknown): x is Listens =>
  typeof x === "object" && x !== null && "addEventListener" in x && "removeEventListener" in x;
const isPage = (x: unknown): x is Page => listens(x) && "visibilityState" in x;

/** @param leave called each time the page is hidden: on phones nothing else comes before it is gone. */
export function onLeave(leave: () => void): { readonly inPage: boolean; end(): void } {
  const page: unknown = Reflect.get(globalThis, "document");
  if (!isPage(page)) return { inPage: false, end() {} };
  const hidden = (): void => {
    if (page.visibilityState === "hidden") leave();
  };
  page.addEventListener("visibilitychange", hidden);
  return { inPage: true, end: () => page.removeEventListener("visibilitychange", hidden) };
}
