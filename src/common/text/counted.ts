/** A number with its noun: 1 episode, 2 episodes. */
export const counted = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;
