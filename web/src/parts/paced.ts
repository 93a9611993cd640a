/** Work that is asked for again and again, done no oftener than it can be afforded. */

/** Milliseconds between two times. */
interface Pace {
  readonly least: number;
  readonly most: number;
  /** So many times as long as the work took. */
  readonly times: number;
}

/**
 * A call begins the work at once, or, within the pause after it was done last, at the end of the pause: once, however often
 * it was asked for. What was asked for last is never forgotten.
 */
export function paced(work: () => Promise<void>, { least, most, times }: Pace): () => void {
  let state: "free" | "busy" | "asked" = "free";
  const begin = async (): Promise<void> => {
    state = "busy";
    const began = performance.now();
    await work();
    const pause = Math.min(most, Math.max(least, times * (performance.now() - began)));
    setTimeout(() => {
      if (state === "asked") void begin();
      else state = "free";
    }, pause);
  };
  return () => {
    if (state === "free") void begin();
    else state = "asked";
  };
}
