/** A recording of the traffic between the tinker SDK's client and our server. */

/** A request and its answer; bodies in base64. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  /** Content type of the answer. */
  readonly type: string;
  readonly answer: string;
}

/** Deterministic ids, counted up, so that recorded requests match: they contain ids from earlier answers. */
export function numbered(): () => string {
  let count = 0;
  return () => `00000000-0000-4000-8000-${`${++count}`.padStart(12, "0")}`;
}
