import { WhetstoneError } from "../core/errors.ts";

/** At most `most` of these run at once; the others wait in order. */
export function limitConcurrency(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  if (!(most >= 1)) {
    throw new WhetstoneError("option.range", {
      where: "concurrency",
      got: String(most),
      expected: "at least 1",
      fix: "Leave it out for 64.",
    });
  }
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
