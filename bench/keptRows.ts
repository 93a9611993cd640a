/** Rows that were measured before, one JSON object a line. */
import { existsSync, readFileSync } from "node:fs";

/** @returns none where the file is not there. */
export const keptRows = <Row>(file: string): Row[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((text) => text !== "")
        .map((text): Row => JSON.parse(text))
    : [];
