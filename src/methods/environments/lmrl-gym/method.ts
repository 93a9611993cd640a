import { exponentialWeights } from "../../../advantage/exponentialWeights.ts";
import { type CriticAdvantagesOptions, criticAdvantages } from "../../../annotate/criticAdvantages.ts";
import { type ExpectileCriticOptions, expectileCritic } from "../../../helper/expectileCritic.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";

/** The benchmark's offline learner, with a critic and data as told. */
export const lmrlGymWith = (
  values: CriticAdvantagesOptions = {},
  critic: ExpectileCriticOptions = {},
  demonstrations = 8,
  beta = 4,
) =>
  method({
    id: "lmrl-gym",
    family: "environments",
    summary: "offline learning from a flawed player: implicit Q-learning, and imitation of what it values",
    paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models",
    mechanism:
      "Eight multi-turn text games with simulated counterparts and data of scripted players stand here as environments: text-maze, text-navigation, wordle, twenty-questions, guess-my-city, chess, chess-endgames and car-dealer. The benchmark's strongest offline learner learns values of whole utterances from such data: the value of a state is an upper expectile of what was done there, so that good parts of different episodes are stitched together, and nothing is ever asked about utterances that the data lacks. The policy imitates the data, but leans to utterances that are worth more than their state.",
    equation: [
      "Q(o, a) → r + γ V(o′), at the end r          o: what was seen, a: the utterance, r: its rewards",
      "V(o): E |τ − 1[Q̄ − V < 0]| (Q̄(o, a) − V(o))²      τ = 0.9; bar: slow copy",
      "loss = −exp(β (Q(o, a) − V(o))) · ln π(a | o)       with its optimum at ln π_data + β (Q − V) + const",
    ].join("\n"),
    source:
      "expectile, β and passes from the benchmark's implicit language Q-learning. Values are of whole utterances in a table instead of heads on tokens; moved logits are learnt by weighted imitation instead of added at decoding, which has the same optimum; the conservative term is left out, since utterances outside of the data get no weight at all (ours)",
    baseline: "sft",
    helpers: { critic: expectileCritic(critic) },
    slots: {
      rollout: demonstrated({ player: "flawed", perTask: demonstrations }),
      annotate: criticAdvantages(values),
      advantage: exponentialWeights({ beta }),
      objective: policyGradient(),
    },
  });

export const lmrlGym = lmrlGymWith();
