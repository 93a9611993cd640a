/** Work that may never answer: it is waited for up to a deadline, and errors of a deadline or a network are told from others. */

/** What {@link within} gives in place of an answer that did not come. */
export const late: unique symbol = Symbol("late");

/** The answer, or `late` where it takes longer; rejects at once when stopped. What was begun goes on, unheard. */
export async function within<T>(
  seconds: number,
  work: Promise<T>,
  stop?: AbortSignal,
): Promise<T | typeof late> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped: (() => void) | undefined;
  try {
    return await Promise.race([
      work,
      new Promise<typeof late>((go, fail) => {
        timer = setTimeout(() => go(late), seconds * 1000);
        stopped = () => fail(stop?.reason);
        stop?.addEventListener("abort", stopped);
      }),
    ]);
  } finally {
    clearTimeout(timer);
    if (stopped) stop?.removeEventListener("abort", stopped);
  }
}

/** Whether an error, or what caused it, is a deadline that passed. */
export function isLate(e: unknown): boolean {
  return causesOf(e).some(({ name }) => name === "TimeoutError");
}

/** Codes of connections that cannot be made, or that break. */
const network = /^(ECONN|ENOTFOUND|ETIMEDOUT|EPIPE|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_)/;

/** Whether an error, or what caused it, is of a network, such as that of a `fetch` that reaches nobody. */
export function isUnreachable(e: unknown): boolean {
  return causesOf(e).some((one) => "code" in one && typeof one.code === "string" && network.test(one.code));
}

function causesOf(e: unknown): readonly Error[] {
  const all: Error[] = [];
  for (let at = e; at instanceof Error && all.length < 10; at = at.cause) all.push(at);
  return all;
}
