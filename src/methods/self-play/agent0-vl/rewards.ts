/** What a verdict says: score 1 for right, −1 for wrong, 0 for neither; confidence 1 where it is sure, else ½, 0 where it says neither. */
export interface Verdict {
  readonly score: number;
  readonly confidence: number;
}

/** RIGHT or WRONG, and SURE or UNSURE. A text that says both or none of a pair is no verdict. */
export function readVerdict(text: string): Verdict {
  const words = new Set(text.split(/[^A-Za-z]+/));
  const one = (a: string, b: string): boolean => words.has(a) !== words.has(b);
  if (!one("RIGHT", "WRONG") || !one("SURE", "UNSURE")) return { score: 0, confidence: 0 };
  return { score: words.has("RIGHT") ? 1 : -1, confidence: words.has("SURE") ? 1 : 0.5 };
}

/**
 * The process reward of a step:
 *
 *     rp = λ_tool · r(tool) + score · conf − β_div · D
 *
 * r(tool): 1 where the verdict says what the tool says, −1 where it says otherwise or nothing, 0 without a tool's word. A product of score and confidence, so that a confident
 * error and an unsure truth are apart.
 * @param nats D, ln π − ln π_reference of the verdict.
 * Paper: "Agent0-VL: Exploring Self-Evolving Agent for Tool-Integrated Vision-Language Reasoning".
 */
export function processReward(
  {
    score,
    confidence,
    tool,
    nats,
  }: Verdict & { readonly tool: { readonly agrees: boolean } | undefined; readonly nats: number },
  { toolReward, divergence }: { readonly toolReward: number; readonly divergence: number },
): number {
  const used = tool === undefined ? 0 : score === (tool.agrees ? 1 : -1) ? 1 : -1;
  return toolReward * used + score * confidence - divergence * nats;
}
