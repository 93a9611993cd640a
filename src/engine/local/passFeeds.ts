/** What the passes of every device share. */
import { WhetstoneError } from "../../core/errors.ts";
import type { PackedRows } from "./protocol.ts";

/** Whether any cotangent says something. */
export const isNotZero = (cotangents: Readonly<Record<string, Float32Array>>): boolean =>
  Object.values(cotangents).some((xs) => xs.some((x) => x !== 0));

/** The error where a backward call has no forward call before it. */
export const noForward = (): WhetstoneError =>
  new WhetstoneError("engine.failed", {
    where: "local engine",
    got: "a backward call without its forward",
    expected: "each forward call followed by its backward call",
    fix: "Report this: it is a bug in the engine.",
  });

/** The inputs of a scoring program that say what rows are. */
export const rowFeeds = ({
  tokens,
  end,
  context,
  back,
  targets,
  atIds,
  A,
}: PackedRows): Record<string, Int32Array> => ({
  tokens,
  end,
  context,
  back,
  targets,
  "at.ids": atIds ?? new Int32Array(A),
});
