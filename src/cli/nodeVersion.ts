/** The oldest Node that runs the published package: it reads TypeScript, in which configs and environments are written. */
export const oldestNode = "22.18.0";

/** One line for the user when this Node is too old; nothing when it will do. */
export function nodeTooOld(version: string = process.versions.node): string | undefined {
  const [have, need] = [version, oldestNode].map((v) => v.split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (have![i] ?? 0) - need![i]!;
    if (difference > 0) return undefined;
    if (difference < 0)
      return `whetstone: got Node ${version}, expected ${oldestNode} or newer. Install a current Node from https://nodejs.org.`;
  }
  return undefined;
}
