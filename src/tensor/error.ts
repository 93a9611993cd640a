/** A wrong shape, type or feed. The message says what was got, what was expected and how to fix it. */
export class TensorError extends Error {
  readonly where: string;
  constructor(where: string, parts: { got: string; expected: string; fix: string }) {
    super(`${where}: got ${parts.got}, expected ${parts.expected}. ${parts.fix}`);
    this.name = "TensorError";
    this.where = where;
  }
}
