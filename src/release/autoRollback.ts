/** Automatic rollback (and, optionally, promotion) of a traffic split. */
import type { TrafficSplit } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { ReleaseController, ReleaseState } from "./controller.ts";
import type { Decision } from "./decision.ts";

/** Settings of {@link autoRollback}. */
export interface AutoRollbackOptions {
  readonly controller: ReleaseController;
  /** Seconds between checks. Default 30. */
  readonly seconds?: number;
  /** Whether a candidate that is shown to be better is promoted, too. Default false: only rollbacks. */
  readonly promote?: boolean;
  /** Called after every check. The state has no estimates. */
  readonly onLook?: (state: ReleaseState) => void;
  /** Called after an action, when the new split is in force. */
  readonly onAction?: (action: Action) => void;
  /** Called when a check fails; the next one runs on schedule. Default: nothing. */
  readonly onError?: (error: unknown) => void;
}

/** A promotion or rollback that was carried out, the judgement behind it, and the split that it led to. */
export interface Action {
  readonly did: "promote" | "roll back";
  readonly version: Id;
  readonly judgement: Decision;
  readonly split: TrafficSplit;
}

/** A running guard of a traffic split. See {@link autoRollback}; `close` ends the checks and waits for the current one. */
export interface AutoRollback {
  /** Checks now; returns the action, if any. Checks do not overlap. */
  look(): Promise<Action | undefined>;
  close(): Promise<void>;
}

/**
 * Checks periodically and rolls back a candidate that is shown to do harm: valid at any number of looks. Rollback has
 * priority over promotion, and one check takes one action, since each action changes what is compared.
 */
export function autoRollback(options: AutoRollbackOptions): AutoRollback {
  const { controller, seconds = 30, promote = false, onLook, onAction, onError } = options;
  let looking: Promise<unknown> = Promise.resolve();
  async function once(): Promise<Action | undefined> {
    const state = await controller.state({ estimates: false });
    onLook?.(state);
    const wanted =
      state.judgements.find((j) => j.decision === "roll back") ??
      (promote ? state.judgements.find((j) => j.decision === "promote") : undefined);
    if (!wanted) return undefined;
    const { version, decision, why } = wanted;
    const did = decision === "promote" ? "promote" : "roll back";
    const split =
      did === "promote"
        ? await controller.promote(version, `promoted by the guard: ${why}`)
        : await controller.rollBack(version, `rolled back by the guard: ${why}`);
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
    // checks that take longer than the interval must not pile up
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
