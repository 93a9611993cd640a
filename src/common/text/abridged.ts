/** Texts that others wrote, within what a model is to read of them. */

/**
 * A text of `most` characters or a few more: of a longer one the middle is left out, which is said there, since how something
 * began and how it ended tell most of it.
 */
export function abridged(text: string, most: number): string {
  if (text.length <= most) return text;
  const [head, tail] = [Math.ceil(most / 2), Math.floor(most / 2)];
  const left = text.length - head - tail;
  return `${text.slice(0, head)}\n[${left} characters left out]\n${text.slice(text.length - tail)}`;
}
