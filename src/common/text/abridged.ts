/** Shortens texts of other authors for a prompt. */

/**
 * Shortens a text to about `most` characters. It replaces the middle by a note, since the beginning and the end usually
 * carry the most information.
 */
export function abridged(text: string, most: number): string {
  if (text.length <= most) return text;
  const [head, tail] = [Math.ceil(most / 2), Math.floor(most / 2)];
  const left = text.length - head - tail;
  return `${text.slice(0, head)}\n[${left} characters left out]\n${text.slice(text.length - tail)}`;
}
