/** The special tokens of a rendered conversation: finding them, and keeping message text from spelling one. */
import { z } from "zod";

/** Unicode noncharacters, reserved for internal use. If a text contains one, it is replaced. */
const reserved = /[\u{fdd0}-\u{fdef}]/gu;
/** Inserted where a message's text would otherwise spell a special token. */
const breaker = "\u{fdd0}";

/** A token of a tokenizer.json that its model does not have to spell. */
export const addedToken = z.looseObject({
  id: z.int().nonnegative(),
  content: z.string().min(1),
  special: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
});
export type AddedToken = z.infer<typeof addedToken>;

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Finds the special tokens of a rendered conversation, and keeps message text from spelling one. */
export interface Guard {
  /** Splits a rendered text into ids of special tokens and the texts between them. */
  split(rendered: string): (string | number)[];
  /** The text of a message, made safe for a template. */
  seal(text: string): string;
}

export function guardOf(tokens: readonly AddedToken[]): Guard {
  const byContent = new Map(tokens.map((t) => [t.content, t]));
  // the longest match at a position wins, as in every implementation
  const any = [...byContent.keys()]
    .sort((a, b) => b.length - a.length)
    .map(escaped)
    .join("|");
  const nothing = "(?!)";
  const found = new RegExp(`(?:${any || nothing})(?!${breaker})`, "gu");
  const begun = new RegExp(`(?=${any || nothing})(.)`, "gsu");
  const beginnings = new Set<string>();
  for (const content of byContent.keys()) {
    for (let n = 1; n < content.length; n++) beginnings.add(content.slice(0, n));
  }
  const longest = [...beginnings].reduce((n, b) => Math.max(n, b.length), 0);
  return {
    split(rendered) {
      const out: (string | number)[] = [];
      let from = 0;
      let strip = false;
      const text = (to: number, next: AddedToken | undefined): void => {
        let piece = rendered.slice(from, to);
        if (strip) piece = piece.trimStart();
        if (next?.lstrip) piece = piece.trimEnd();
        piece = piece.replaceAll(breaker, "");
        if (piece !== "") out.push(piece);
      };
      for (const match of rendered.matchAll(found)) {
        const token = byContent.get(match[0])!;
        text(match.index, token);
        out.push(token.id);
        from = match.index + match[0].length;
        strip = token.rstrip;
      }
      text(rendered.length, undefined);
      return out;
    },
    seal(text) {
      let out = text.replaceAll(reserved, "\u{fffd}").replaceAll(begun, `$1${breaker}`);
      // the template's next characters must not complete a special token that the text begins
      const end = out.trimEnd().length;
      for (let n = 1; n <= Math.min(longest, end); n++) {
        const at = end - n;
        if (beginnings.has(out.slice(at, end))) out = `${out.slice(0, at + 1)}${breaker}${out.slice(at + 1)}`;
      }
      return out;
    },
  };
}
