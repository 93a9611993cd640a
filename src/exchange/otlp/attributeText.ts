/** JSON in the texts of attributes: read where that is cheap, and safe to write again. */
import { jsonOrText as parsedOrText } from "../../common/text/toolCalls.ts";
import type { Json } from "../../core/json.ts";

/** Deepest nesting, and most values. What is beyond is no conversation, and fills the stack or the memory of who reads it. */
const most = { depth: 64, values: 200_000 };

/** The value of a JSON text; other texts, and those beyond the limits, as they are. */
export const jsonOrText = (text: string): Json => (isBounded(text) ? parsedOrText(text) : text);

function isBounded(text: string): boolean {
  if (text.length <= most.depth) return true;
  let [depth, values] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // a string: skip to its end
        i = endOfString(text, i + 1);
        break;
      case 0x5b: // [ and {
      case 0x7b:
        if (++depth > most.depth || ++values > most.values) return false;
        break;
      case 0x5d: // ] and }
      case 0x7d:
        depth--;
        break;
      case 0x2c: // ,
        if (++values > most.values) return false;
    }
  }
  return true;
}

/** Where the string that began before `from` ends. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (first > from && text.charCodeAt(first - 1) === 0x5c) first--;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}
