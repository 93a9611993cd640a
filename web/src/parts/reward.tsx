/** Rewards and outcomes, told apart by colour and by what they say: zero is neither good nor bad. */
import { digits } from "./words.ts";

export const toneOf = (reward: number): "good" | "bad" | "even" =>
  reward > 0 ? "good" : reward < 0 ? "bad" : "even";

/** With its sign: "+0.5", "0", "−1". */
export const signed = (reward: number): string =>
  reward > 0 ? `+${digits(reward)}` : digits(reward).replace("-", "−");

export function Reward({ of }: { readonly of: number | null }) {
  if (of === null) return <span class="reward even">–</span>;
  return <span class={`reward ${toneOf(of)}`}>{signed(of)}</span>;
}

/** By outcome; another has no colour. */
const tones: Readonly<Record<string, string>> = { success: "good", failed: "bad", truncated: "warn" };

export function Outcome({ of }: { readonly of: string }) {
  return <span class={`outcome ${tones[of] ?? "even"}`}>{of}</span>;
}
