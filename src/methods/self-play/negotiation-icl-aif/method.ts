import type { Able } from "../../../core/evaluator.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { nothing } from "../../../update/nothing.ts";
import { criticisedGames, gameWord, suggestionWords } from "./criticisedGames.ts";

const rounds = 5;

/** Games with suggestions of this critic in the player's context; without one, with the earlier games alone. */
export const criticisedBy =
  (critic?: Able<"critique">) =>
  ({
    groupSize,
    temperature,
  }: {
    readonly groupSize: number;
    readonly temperature: number;
  }): SlotChoices => ({
    rollout: criticisedGames({ rounds, groupSize, temperature, ...(critic && { critic }) }),
    update: nothing(),
  });

export const negotiationIclAif = method({
  id: "negotiation-icl-aif",
  family: "self-play",
  summary: "plays a negotiation again and again, with a critic's suggestions on earlier games in the context",
  paper: "Improving Language Model Negotiation with Self-Play and In-Context Learning from AI Feedback",
  mechanism:
    "A player bargains with a fixed opponent. A critic reads the finished game and writes suggestions for the player, who then plays again with all earlier games and suggestions in its context. No weights change. Better prices may cost deals, so that the deal rate and the expected utility are reported beside the price.",
  equation: [
    "y_r ~ π(· | rules, (y_1, f_1), …, (y_{r−1}, f_{r−1})),   f_r = critic(y_r)        r = 1 … 5",
    "report: mean utility of deals,  deal rate d_r,  d_r · E[utility | deal]",
  ].join("\n"),
  source:
    "the protocol from memory of the paper; numbers of the setting are ours. The opponent and the moderator are the environment, and the critic its template, or any other (`criticisedBy`); without the reading of utilities as rewards that train weights",
  says: [
    `${gameWord} : ; deal breakdown cut off ${suggestionWords}`,
    ...Array.from({ length: rounds }, (_, r) => `${r + 1}`),
  ],
  slots: criticisedBy(scriptedCritiquer()),
});
