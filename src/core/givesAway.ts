const wordsIn = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");

/**
 * Whether a reference answer stands in a text as words of their own, in order and together; line breaks and blanks count
 * alike. Without a reference, or with an empty one, there is nothing to give away.
 */
export function givesAway(text: string, reference: string | undefined): boolean {
  const answer = wordsIn(reference ?? "");
  return answer.length > 0 && ` ${wordsIn(text).join(" ")} `.includes(` ${answer.join(" ")} `);
}
