const marker: unique symbol = Symbol.for("whetstone.error");

/** Every error code, with the exit code of a command that ends with it (1: failed, 2: wrong usage). */
export const errorCodes = {
  "shape.mismatch": 1,
  "value.notFinite": 1,
  "option.range": 2,
  "option.unknown": 2,
  "name.unknown": 2,
  "config.invalid": 2,
  "capability.missing": 2,
  "folder.unwritable": 1,
  "disk.write": 1,
  "checkpoint.damaged": 1,
  "checkpoint.missing": 2,
  "model.unsupported": 2,
  "template.failed": 1,
  "hub.notFound": 2,
  "hub.denied": 2,
  "hub.unreachable": 1,
  "package.missing": 2,
  "device.missing": 2,
  "device.full": 1,
  "run.exists": 2,
  "run.different": 2,
  "tokenizer.unknownToken": 1,
  "context.tooLong": 1,
  "environment.broken": 1,
  "engine.failed": 1,
  "store.failed": 1,
  "store.full": 1,
  "store.erased": 1,
  "store.refused": 1,
  "import.invalid": 1,
  "task.none": 1,
  "chat.failed": 1,
  "provider.gone": 1,
  "budget.spent": 1,
} as const;
/** Identifies what went wrong, and with it the exit code of a command that ends so. See {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/** What an error says, in parts: where it occurred, what was found there, what was expected, and how to fix it. */
export interface ErrorParts {
  /** The function, option or file that the user named, e.g. `leaveOneOut` or `--env`. */
  readonly where: string;
  readonly got: string;
  readonly expected: string;
  /** How to fix it: one imperative sentence. */
  readonly fix: string;
  /** The whole message, where the usual sentence would quote another one of its kind. */
  readonly said?: string;
  readonly cause?: unknown;
}

/** The only error class: a code, what was wrong, what was expected, and how to fix it. */
export class WhetstoneError extends Error {
  readonly [marker] = true;
  readonly code: ErrorCode;
  readonly parts: ErrorParts;
  constructor(code: ErrorCode, parts: ErrorParts) {
    const said = parts.said ?? `${parts.where}: got ${parts.got}, expected ${parts.expected}. ${parts.fix}`;
    // one line, whatever was quoted
    super(said.replaceAll(/\s*[\r\n\u2028\u2029]\s*/g, " "), { cause: parts.cause });
    this.name = "WhetstoneError";
    this.code = code;
    this.parts = parts;
  }
}

/** Works across two copies of the package in one process. */
export function isWhetstoneError(e: unknown): e is WhetstoneError {
  return typeof e === "object" && e !== null && marker in e;
}

/** The text of anything thrown. */
export function messageOf(e: unknown): string {
  return e instanceof Error ? e.message : String(e);
}

/** Returns the value. @throws WhetstoneError `shape.mismatch` when it is missing. */
export function present<T>(value: T | undefined | null, where: string, what: string): T {
  if (value !== undefined && value !== null) return value;
  throw new WhetstoneError("shape.mismatch", {
    where,
    got: `no ${what}`,
    expected: what,
    fix: "Check that the piece that makes it runs before the piece that reads it.",
  });
}
