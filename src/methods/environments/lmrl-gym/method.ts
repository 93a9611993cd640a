import { exponentialWeights } from "../../../advantage/exponentialWeights.ts";
import { type CriticAdvantagesOptions, criticAdvantages } from "../../../annotate/criticAdvantages.ts";
import { type ExpectileCriticOptions, expectileCritic } from "../../../helper/expectileCritic.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";

/** The benchmark's offline learner, with options for the critic, the data and β. */
export const lmrlGymWith = (
  values: CriticAdvantagesOptions = {},
  critic: ExpectileCriticOptions = {},
  demonstrations = 8,
  beta = 4,
) =>
  method({
    id: "lmrl-gym",
    family: "environments",
    summary: "offline RL from a flawed player's data: implicit Q-learning and advantage-weighted imitation",
    paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models",
    mechanism:
      "Eight multi-turn text games with simulated counterparts and data of scripted players are available as environments: text-maze, text-navigation, wordle, twenty-questions, guess-my-city, chess, chess-endgames and car-dealer. The benchmark's strongest offline learner learns values of whole utterances from such data: the value of a state is an upper expectile of the Q-values of the logged utterances there, so good parts of different episodes are stitched together, and utterances outside the data are never evaluated. The policy imitates the data, with more weight on utterances whose Q-value exceeds the state's value.",
    equation: [
      "Q(o, a) → r + γ V(o′), at the end r          o: the observations so far, a: the utterance, r: its rewards",
      "V(o): E |τ − 1[Q̄ − V < 0]| (Q̄(o, a) − V(o))²      τ = 0.9; bar: slow copy",
      "loss = −exp(β (Q(o, a) − V(o))) · ln π(a | o)       with its optimum at ln π_data + β (Q − V) + const",
    ].join("\n"),
    source:
      "expectile, β and passes from the benchmark's implicit language Q-learning. Values are per utterance in a table instead of heads on tokens; the shift of the logits is learnt by weighted imitation instead of added at decoding, which has the same optimum; the conservative term is left out, since utterances outside of the data get no weight at all (ours)",
    baseline: "sft",
    helpers: { critic: expectileCritic(critic) },
    options: {
      demonstrations: {
        help: "the flawed player's episodes per task",
        default: demonstrations,
        low: 1,
        whole: true,
      },
      beta: { help: "β, how much the better utterances count, per unit of reward", default: beta, low: 0 },
    },
    slots: (_s, o) => ({
      rollout: demonstrated({ player: "flawed", perTask: o.demonstrations }),
      annotate: criticAdvantages(values),
      advantage: exponentialWeights({ beta: o.beta }),
      objective: policyGradient(),
    }),
  });

export const lmrlGym = lmrlGymWith();
