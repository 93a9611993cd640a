/** Keeps promises that an agent leaves lying from ending the process. */
import { AsyncLocalStorage } from "node:async_hooks";

type Fail = (thrown: unknown) => void;

const owner = new AsyncLocalStorage<Fail>();
let listens = false;

/**
 * Runs something whose unhandled rejections, its own ones and those of all that it starts, now or later, go to `fail`.
 * Everybody else's stay what they are: where nothing else listens for them, they end the process. Whose it was is known
 * from Node 24 on; before, all are everybody else's.
 */
export function contained<T>(run: () => Promise<T>, fail: Fail): Promise<T> {
  if (!listens) process.on("unhandledRejection", pass);
  listens = true;
  return owner.run(fail, run);
}

function pass(thrown: unknown): void {
  const fail = owner.getStore();
  if (fail) fail(thrown);
  else if (process.listenerCount("unhandledRejection") === 1) throw thrown;
}
