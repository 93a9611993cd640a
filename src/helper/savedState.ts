/** Reads the state of a helper from a checkpoint. */
import type { z } from "zod";
import { WhetstoneError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";

/** What an error says of a state that cannot be read. */
export interface StateWords {
  readonly where: string;
  readonly expected: string;
  /** Default: to resume with the method that saved it. */
  readonly fix?: string;
}

/** @throws WhetstoneError `checkpoint.damaged` where the state does not belong to this kind of helper. */
export function savedState<T>(schema: z.ZodType<T>, state: Json, words: StateWords): T {
  const { success, data } = schema.safeParse(state);
  if (success) return data;
  throw damagedState(words);
}

export const damagedState = ({ where, expected, fix }: StateWords): WhetstoneError =>
  new WhetstoneError("checkpoint.damaged", {
    where,
    got: "a state in another format",
    expected,
    fix: fix ?? "Resume with the method that saved it.",
  });
