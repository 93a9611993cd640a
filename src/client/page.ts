/** Detects whether the code runs in a web page, and when the user leaves that page. */

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

export interface Leaving {
  readonly inPage: boolean;
  /** Whether the page is hidden: it may be closed before anything else runs. */
  readonly hidden: boolean;
  end(): void;
}

/** @param leave called each time the page is hidden: on phones this is the last event before the page is closed. */
export function onLeave(leave: () => void): Leaving {
  const page: unknown = Reflect.get(globalThis, "document");
  if (!isPage(page)) return { inPage: false, hidden: false, end() {} };
  const isHidden = (): boolean => page.visibilityState === "hidden";
  const changed = (): void => {
    if (isHidden()) leave();
  };
  page.addEventListener("visibilitychange", changed);
  return {
    inPage: true,
    get hidden() {
      return isHidden();
    },
    end: () => page.removeEventListener("visibilitychange", changed),
  };
}
