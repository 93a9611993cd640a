/** The code in a reply: what stands in its last fence, or all of it where there is none. */
export function codeIn(reply: string): string {
  const fences = [...reply.matchAll(/```[^\n`]*\n([\s\S]*?)(?:```|$)/g)];
  return (fences.at(-1)?.[1] ?? reply).trim();
}
