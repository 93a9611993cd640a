/** A wrong shape, type or feed. The message says what was got, what was expected and how to fix it. */
export class TensorError extends Error {
  readonly where: string;
  readonly parts: { readonly got: string; readonly expected: string; readonly fix: string };
  constructor(where: string, parts: TensorError["parts"]) {
    super(`${where}: got ${parts.got}, expected ${parts.expected}. ${parts.fix}`);
    this.name = "TensorError";
    this.where = where;
    this.parts = parts;
  }
}
