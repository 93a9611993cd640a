import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { z } from "zod";
import { oneLine } from "../common/text/oneLine.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";

/** The contents of a file of one JSON value. @throws WhetstoneError `config.invalid` for another file, with its first fault. */
export async function readJsonFile<T>(file: string, schema: z.ZodType<T>, expected: string): Promise<T> {
  try {
    return schema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (e) {
    const [first] = e instanceof z.ZodError ? e.issues : [];
    throw new WhetstoneError("config.invalid", {
      where: basename(file) || "a file without a name",
      got: first
        ? oneLine(`${first.message} at ${first.path.join(".") || "the top"}`)
        : oneLine(messageOf(e)),
      expected,
      fix: "Name such a file.",
      cause: e,
    });
  }
}
