/** Formulas are written as plain text; this finds what in them is set lower, higher or slanted. */

export type Part =
  | { readonly kind: "text" | "variable" | "said"; readonly text: string }
  /** `mark` is how it was written, kept so that copying gives the text again. */
  | { readonly kind: "sub" | "sup"; readonly mark: string; readonly text: string; readonly close: string };

const letters = "A-Za-zα-ωΑ-ΟΡΤ-Ωϕϵ";
const token = new RegExp(
  [
    `(?<lift>[_^])(?:\\((?<group>[^()]*)\\)|\\{(?<braces>[^{}]*)\\}|(?<bare>[${letters}0-9*+−′≤≥<>]+))`,
    `(?<word>[${letters}]+(?:[̂̄̃̇])?)`,
    `(?<other>[^${letters}_^]+|.)`,
  ].join("|"),
  "gu",
);

/** One line: formulas, and after three blanks or more what is said of them. */
export function equationParts(line: string): Part[] {
  const parts: Part[] = [];
  // the blanks stay: they hold remarks of several lines under each other
  for (const piece of line.split(/(\s{3,})/)) {
    if (piece === "") continue;
    if (/^\s+$/.test(piece)) parts.push({ kind: "text", text: piece });
    else if (isRemark(piece)) parts.push({ kind: "said", text: piece });
    else parts.push(...formula(piece));
  }
  return parts;
}

/** Most of its letters are in words of three letters or more, and it states no equation. */
function isRemark(text: string): boolean {
  if (/[=←→⇔∝≤≥]/.test(text)) return false;
  const words = text.match(/\p{L}+/gu) ?? [];
  const long = words.filter((w) => w.length > 2);
  return long.length > 0 && long.join("").length * 2 > words.join("").length;
}

function formula(text: string): Part[] {
  const parts: Part[] = [];
  for (const { groups = {}, 0: whole } of text.matchAll(token)) {
    if (groups.lift !== undefined) {
      const kind = groups.lift === "_" ? "sub" : "sup";
      const inside = groups.group ?? groups.braces ?? groups.bare ?? "";
      const [open, close] =
        groups.group !== undefined ? ["(", ")"] : groups.braces !== undefined ? ["{", "}"] : ["", ""];
      parts.push({ kind, mark: `${groups.lift}${open}`, text: inside, close });
    } else if (groups.word !== undefined && [...groups.word.normalize("NFC")].length === 1) {
      parts.push({ kind: "variable", text: whole });
    } else {
      parts.push({ kind: "text", text: whole });
    }
  }
  return parts;
}
