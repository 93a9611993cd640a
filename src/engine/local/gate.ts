/**
 * Ending a thread while it runs native code aborts the whole process: ONNX Runtime's binding goes on to call JavaScript
 * that no longer exists. So the engine thread passes a gate on its way into native code, and is ended only when the gate
 * is shut and the thread is outside.
 */

/** Indices in the shared memory. */
const [inside, shut] = [0, 1];

export type Gate = Int32Array<SharedArrayBuffer>;

/** The thread starts inside, since it loads native code first. */
export function makeGate(): Gate {
  const gate = new Int32Array(new SharedArrayBuffer(8));
  gate[inside] = 1;
  return gate;
}

/** Called by the engine thread: it has left native code. */
export function leave(gate: Gate): void {
  Atomics.store(gate, inside, 0);
  Atomics.notify(gate, inside);
}

/** Called by the engine thread: runs native work. Once the gate is shut nothing is run, and the promise never settles. */
export function nativeWork(gate: Gate): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  return async (work) => {
    running++;
    Atomics.store(gate, inside, 1);
    try {
      if (Atomics.load(gate, shut) === 0) return await work();
    } finally {
      if (--running === 0) leave(gate);
    }
    return new Promise(() => {});
  };
}

/** Called by the main thread. @returns once the thread is outside and stays there. */
export async function shutGate(gate: Gate): Promise<void> {
  Atomics.store(gate, shut, 1);
  while (Atomics.load(gate, inside) === 1) await Atomics.waitAsync(gate, inside, 1).value;
}

/** Longest wait for a native call when the process exits: a thread that failed inside never leaves. */
const patienceMs = 60_000;

/** The same for a process that is exiting: it blocks. */
export function shutGateNow(gate: Gate): void {
  Atomics.store(gate, shut, 1);
  Atomics.wait(gate, inside, 1, patienceMs);
}
