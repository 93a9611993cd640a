/**
 * A thread that is ended while it runs native code takes the whole process with it: ONNX Runtime's binding goes on to call
 * JavaScript that is no longer there, and aborts. So the engine thread passes a gate into native code, and is ended only once
 * the gate is shut and the thread is outside.
 */

/** Places in the memory that both threads share. */
const [inside, shut] = [0, 1];

export type Gate = Int32Array<SharedArrayBuffer>;

/** The thread begins inside: the first thing that it does is to load native code. */
export function makeGate(): Gate {
  const gate = new Int32Array(new SharedArrayBuffer(8));
  gate[inside] = 1;
  return gate;
}

/** The engine thread's side: it is outside. */
export function leave(gate: Gate): void {
  Atomics.store(gate, inside, 0);
  Atomics.notify(gate, inside);
}

/** The engine thread's side: does native work. Once the gate is shut nothing is done, and the promise never settles. */
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

/** The other side. @returns once the thread is outside and stays there. */
export async function shutGate(gate: Gate): Promise<void> {
  Atomics.store(gate, shut, 1);
  while (Atomics.load(gate, inside) === 1) await Atomics.waitAsync(gate, inside, 1).value;
}

/** Longest native call that a process waits for at its end: a thread that failed inside never comes out. */
const patienceMs = 60_000;

/** The same for a process that ends now: it blocks. */
export function shutGateNow(gate: Gate): void {
  Atomics.store(gate, shut, 1);
  Atomics.wait(gate, inside, 1, patienceMs);
}
