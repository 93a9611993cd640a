import { method } from "../../../method/method.ts";
import { concentrated } from "./concentrated.ts";

export const gainRl = method({
  id: "gain-rl",
  family: "curriculum",
  summary:
    "orders tasks by how alike the directions of their tokens' hidden states are, the most alike first",
  paper: "Angles Don't Lie: Unlocking Training-Efficient RL Through the Model's Own Signals",
  mechanism:
    "Where the hidden states of a prompt's tokens point in similar directions, their contributions to the gradient add up, and the paper finds that the model learns more from such a prompt. One forward pass ranks all tasks by this concentration. Each iteration draws its tasks from a Gaussian over the ranks, which begins at the most concentrated and moves on as rewards and the measured concentration grow. Whether concentration goes with larger gradients has to be measured for a model: without that the sampler is a narrow one and nothing more.",
  equation: [
    "C = mean cos(h_i, h_j) over tokens of the question + w · the same between question and shared prefix",
    "P(rank k) ∝ exp(−(k − μ)² / (2 σ²)), without replacement;  μ₀ = 0",
    "μ ← μ + clamp(n tanh(2 (mean R − ½)) + n tanh(2 mean cos of the attempts), 0, most)",
  ].join("\n"),
  source:
    "score, sampler and steps from the paper and its code, with the mean reward in place of half of it, which would be neutral at 1; n, σ and the largest step are its 500, 1000 and 1000 of 7,500 tasks. States are those after the last layer, where the paper takes the input of its last perceptron; w = 1, and the centre stops at the last rank",
  needs: ["hidden"],
  options: {
    advance: { help: "n, as a share of the tasks", default: 0.07, low: 0, high: 1 },
    spread: { help: "σ of the ranks, as a share of the tasks", default: 0.13, low: 0.001, high: 10 },
    most: { help: "largest step of the centre, as a share of the tasks", default: 0.13, low: 0, high: 1 },
    across: { help: "w, weight of the cosine with the shared prefix", default: 1, low: 0, high: 100 },
    rank: {
      help: "what ranks the tasks; chance is for comparison",
      default: "concentrated",
      oneOf: ["concentrated", "random"],
    },
    layer: { help: "layer of the hidden states; −1 is the last", default: -1, low: -1000, whole: true },
  },
  slots: ({ tasks }, options) => ({ data: concentrated({ tasks, ...options }) }),
});
