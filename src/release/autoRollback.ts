/** An automatic guard over a split. */
import type { Split } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { ReleaseDesk, ReleaseState } from "./controller.ts";
import type { Judgement } from "./verdict.ts";

export interface WatchOptions {
  readonly desk: ReleaseDesk;
  /** Seconds between looks. Default 30. */
  readonly seconds?: number;
  /** Whether a candidate that is shown to be better is promoted as well. Default false: only harm is acted on. */
  readonly promote?: boolean;
  /** After every look. Without estimates. */
  readonly onLook?: (state: ReleaseState) => void;
  /** Once it has acted; the new split counts. */
  readonly onAction?: (action: Action) => void;
  /** A look that failed; the next one is tried in time. Default: nothing. */
  readonly onError?: (error: unknown) => void;
}

export interface Action {
  readonly did: "promote" | "roll back";
  readonly version: Id;
  readonly judgement: Judgement;
  readonly split: Split;
}

export interface Watch {
  /** Looks now; what was done, if anything was. Looks do not overlap. */
  look(): Promise<Action | undefined>;
  close(): Promise<void>;
}

/**
 * Judges every so often and rolls back by itself what is shown to do harm: sound at any number of looks. A roll-back comes
 * before a promotion, and one look does one thing, since each changes what is compared.
 */
export function watch(options: WatchOptions): Watch {
  const { desk, seconds = 30, promote = false, onLook, onAction, onError } = options;
  let looking: Promise<unknown> = Promise.resolve();
  async function once(): Promise<Action | undefined> {
    const state = await desk.state({ estimates: false });
    onLook?.(state);
    const wanted =
      state.judgements.find((j) => j.decision === "roll back") ??
      (promote ? state.judgements.find((j) => j.decision === "promote") : undefined);
    if (!wanted) return undefined;
    const { version, decision, why } = wanted;
    const did = decision === "promote" ? "promote" : "roll back";
    const split =
      did === "promote"
        ? await desk.promote(version, `promoted by the guard: ${why}`)
        : await desk.rollBack(version, `rolled back by the guard: ${why}`);
    const action: Action = { did, version, judgement: wanted, split };
    onAction?.(action);
    return action;
  }
  const look = (): Promise<Action | undefined> => {
    const next = looking.then(once, once);
    looking = next.catch(() => undefined);
    return next;
  };
  let due = false;
  const timer = setInterval(() => {
    // a look that takes longer than the pause is not followed by a heap of others
    if (due) return;
    due = true;
    look()
      .catch((e: unknown) => onError?.(e))
      .finally(() => {
        due = false;
      });
  }, 1000 * seconds);
  timer.unref();
  return {
    look,
    close: async () => {
      clearInterval(timer);
      await looking;
    },
  };
}
