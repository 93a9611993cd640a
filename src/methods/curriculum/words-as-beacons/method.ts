import { gae } from "../../../advantage/gae.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { values } from "../../../annotate/values.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { OptionValues } from "../../../method/options.ts";
import type { Settings } from "../../../method/settings.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";
import { type Advisor, listedSubgoals } from "./advisor.ts";
import { beaconBonus, beacons } from "./beacons.ts";

const options = {
  bonus: {
    help: "what all subgoals of a task pay together at first, as a share of its reward",
    default: 0.5,
    low: 0,
    high: 10,
  },
  patience: { help: "actions after which a subgoal is skipped", default: 20, low: 1, whole: true },
  fades: {
    help: "share of the run over which subgoals and bonuses fade out",
    default: 0.7,
    low: 0.01,
    high: 1,
  },
  shown: { help: "whether the agent sees its subgoal, or is only paid for it", default: true },
} as const;

/** The slots with subgoals of a given advisor, such as a language model that is asked once per task. */
export const beaconSlots =
  (advisor: Advisor) =>
  (s: Settings, { bonus, patience, fades, shown }: OptionValues<typeof options>): SlotChoices => ({
    rollout: beacons({ groupSize: s.groupSize, temperature: s.temperature, advisor, patience, fades, shown }),
    annotate: values(),
    feedback: [turnRewards({ unpaid: "zero" }), beaconBonus({ bonus, patience, fades })],
    credit: perTurn(),
    advantage: [gae({ level: "turn" }), whitened()],
    objective: [clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }), valueRegression()],
  });

export const wordsAsBeacons = method({
  id: "words-as-beacons",
  family: "curriculum",
  summary: "shows the agent one subgoal after another while it trains, pays for each, and fades both out",
  paper: "Words as Beacons: Guiding RL Agents with High-Level Language Prompts",
  mechanism:
    "An advisor reads a task's description and lists subgoals in order. The agent sees the current one beside its observation and gets a small bonus when it is reached, once; then the next is shown. A subgoal that is not reached in time is skipped. Over the run subgoals are left out more and more often and the bonus shrinks, so that the agent acts without an advisor in the end.",
  equation: [
    "r'[t] = r[t] + α · 1[subgoal g_j is reached after action t],  then j ← j + 1        α: bonus / number of subgoals",
    "share of episodes without subgoals: 0 → 1, α: 1 → 0 of its first value, both linear",
    "PPO on r' with a value before each turn",
  ].join("\n"),
  source:
    "subgoals in order, bonus and an agent without advisor in the end from the paper; dropping them out, the fading bonus, its size and the skipped subgoal are ours. By default the advisor is the list `metadata.subgoals` of a task; `beaconSlots` takes another",
  baseline: "ppo",
  models: { critic: { from: "fresh", heads: ["value"] } },
  needs: ["heads"],
  says: ["subgoal :"],
  options,
  slots: beaconSlots(listedSubgoals),
});
