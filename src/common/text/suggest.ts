import { distance } from "fastest-levenshtein";
import { WhetstoneError } from "../../core/errors.ts";

/** The known name nearest to `got`, if it is near enough to be a typing error. Among equals, prefers one with the same letters. */
export function nearest(got: string, known: readonly string[]): string | undefined {
  const typed = got.toLowerCase();
  const letters = (text: string): string => [...text].sort().join("");
  const far = (name: string): number =>
    distance(typed, name.toLowerCase()) - (letters(name.toLowerCase()) === letters(typed) ? 0.5 : 0);
  const slips = Math.max(2, Math.floor(got.length / 3));
  // a difference in length is a lower bound of the distance, so a long text is compared with nothing
  const [best] = known
    .filter((name) => Math.abs(name.length - got.length) <= slips)
    .map((name) => ({ name, far: far(name) }))
    .sort((a, b) => a.far - b.far);
  return best && best.far <= slips ? best.name : undefined;
}

/**
 * The error for an unknown name.
 * @param where what the user wrote it in, e.g. `--env`.
 * @example unknownName("--env", "ticktactoe", ["tictactoe"]).parts.fix // "Did you mean tictactoe?"
 */
export function unknownName(where: string, got: string, known: readonly string[]): WhetstoneError {
  const near = nearest(got, known);
  const listed =
    known.length > 12 ? `${known.slice(0, 12).join(", ")}, … (${known.length} in all)` : known.join(", ");
  return new WhetstoneError("name.unknown", {
    where,
    got: `"${got}"`,
    expected: known.length > 0 ? `one of ${listed}` : "a known name, but none is defined here",
    fix: near
      ? `Did you mean ${near}?`
      : known.length > 0
        ? "Choose one of these names."
        : "Define one first.",
  });
}
