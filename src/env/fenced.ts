/** The code in a reply: the content of its last code fence, or the whole reply where there is none. */
export function codeIn(reply: string): string {
  const fences = [...reply.matchAll(/```[^\n`]*\n([\s\S]*?)(?:```|$)/g)];
  return (fences.at(-1)?.[1] ?? reply).trim();
}
