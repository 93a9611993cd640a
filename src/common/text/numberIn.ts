/** The number that a text writes, as JavaScript writes numbers; NaN for any other text, a blank one included. */
export const numberIn = (text: string): number => (text.trim() === "" ? Number.NaN : Number(text));
