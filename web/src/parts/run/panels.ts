/** Which charts a run has. */
import { percent } from "../words.ts";

export interface Panel {
  readonly title: string;
  readonly unit?: string;
  readonly names: readonly string[];
  /** Shown as shares of their sum. */
  readonly shares?: true;
  /** How values are written where three digits are not the way. */
  readonly words?: (value: number) => string;
}

/** Which charts a run has, by what it measured. Everything that no chart claims is offered below them. */
export function panelsOf(metrics: readonly string[]): readonly Panel[] {
  const ending = (end: string): string[] => metrics.filter((name) => name.endsWith(end));
  const those = (...names: string[]): string[] => names.filter((name) => metrics.includes(name));
  // what learns from examples plays nothing: its loss is what there is to see
  const plays = metrics.includes("success");
  const panels: Panel[] = [
    { title: "Success", unit: "share of trained episodes", names: those("success"), words: percent },
    { title: "Loss", unit: "of examples", names: plays ? [] : ending(".loss") },
    { title: "Reward", unit: "mean of an episode", names: those("reward", "return") },
    { title: "Length", unit: "turns an episode", names: those("turns") },
    { title: "Entropy", unit: "nats a token", names: those("entropy") },
    { title: "KL", unit: "nats a token", names: ending(".kl") },
    { title: "Clipped", unit: "share of tokens", names: ending(".clipFraction"), words: percent },
    { title: "Gradient norm", names: those("gradientNorm") },
    { title: "Sampling against training", unit: "largest gap, nats", names: those("logpGap") },
    { title: "Staleness", unit: "iterations behind, mean of samples", names: those("staleness") },
    {
      title: "Importance weights",
      unit: "mean; share at the cap",
      names: those("importance", "importance.truncated"),
    },
    { title: "Speed", unit: "tokens a second", names: plays ? those("tokensPerSecond") : [] },
    {
      title: "Time",
      unit: "share of an iteration",
      names: metrics.filter((name) => name.startsWith("seconds.")),
      shares: true,
      words: percent,
    },
  ];
  return panels.filter(({ names }) => names.length > 0);
}
