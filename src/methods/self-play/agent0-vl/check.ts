import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import type { Message } from "../../../core/types.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { agent0Vl, verified } from "./method.ts";
import { adder, type Slips, type Step, slips, slipsReader } from "./slips.ts";
import { type SolverVerifierOptions, type Tool, verifierQuestion } from "./solverVerifier.ts";

/** π(right answer) at a step, exact, mean over these steps. */
const accuracy = async (policy: Model, { environment }: Slips, steps: readonly Step[]): Promise<number> => {
  const task = environment.tasks("test")[0]!;
  const at = steps.map(async ({ operation, value, right }) => {
    const prompt: readonly Message[] = [{ role: "user", content: `${operation} ${value}` }];
    return (await replyProbabilities(policy, { ...task, prompt }, [String(right)]))[0]!;
  });
  return mean(await Promise.all(at));
};

/** Probability that a verdict is true, over all answers to steps as likely as the first policy gives them, exact. */
async function verdicts(policy: Model, { environment, steps }: Slips, tooled: boolean): Promise<number> {
  const task = environment.tasks("test")[0]!;
  const at = steps.flatMap(({ operation, value, right, p }) =>
    p.map(async (chance, answer) => {
      const sum = tooled && operation.startsWith("plus") ? `calculator ${right}\n` : "";
      const prompt: readonly Message[] = [
        { role: "user", content: `${operation} ${value}` },
        { role: "assistant", content: String(answer) },
        { role: "user", content: `${sum}${verifierQuestion}` },
      ];
      const [yes, no] = await replyProbabilities(policy, { ...task, prompt }, ["RIGHT", "WRONG"]);
      return chance * (answer === right ? yes! : no!);
    }),
  );
  return (await Promise.all(at)).reduce((a, b) => a + b, 0) / steps.length;
}

const defaults = { repair: true, threshold: 0.7, repairCost: 0.05, toolReward: 0.3, discount: 0.99 };
const arm = (
  what: string,
  options: Partial<SolverVerifierOptions>,
  tool: Tool | undefined,
  divergence = 1,
): Arm =>
  trainingArm({
    what,
    recipe: method({
      id: "agent0-vl",
      family: "self-play",
      summary: what,
      frozen: { reference: {} },
      says: [...(agent0Vl.says ?? []), "calculator"],
      slots: (s) => verified({ ...defaults, ...(tool && { tool }), maxTokens: 2, divergence, ...options })(s),
    }),
    environment: (seed) => slips(seed).environment,
    engine: (seed) => tabularEngine({ prior: slips(seed).prior, features: slipsReader }),
    iterations: 12,
    settings: { ...plainAscent, tasks: 6, groupSize: 8 },
    grid: [100, 300, 1000].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => accuracy(policy, slips(seed), slips(seed).steps),
    more: async ({ policy, curve }, seed) => {
      const world = slips(seed);
      const sums = world.steps.filter(({ operation }) => operation.startsWith("plus"));
      return {
        "right at additions": await accuracy(policy, world, sums),
        "true verdicts": await verdicts(policy, world, tool !== undefined),
        "verdicts that praise, last 10": averageOf(curve.slice(-10), "right"),
        "repaired, last 10": averageOf(curve.slice(-10), "repaired"),
      };
    },
  });
export default defineCheck({
  id: "agent0-vl",
  level: "table",
  claim:
    "A policy that verifies its own steps with a calculator, which knows half of the operations, learns more right answers without labels than one that verifies by its own word.",
  metric: "probability of the right answer to a step, exact, mean over the 40 steps there are",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  simpler: ["baseline", "tool"],
  unequalCost:
    "all arms make 576 attempts; a repair plays the rest of an attempt again and verifies it, in about half of the attempts",
  notes:
    "The policy is trained to praise itself: scores are its own. At small steps β_div = 1 per nat keeps its verdicts as true as they began; at the steps that suit the answers they come to 0.51 (0.48 with 0.05, and 0.75 without repair), while answers are still learnt from r(tool). A repair follows low confidence, which says nothing of what is wrong here: it costs tokens, and answers are as good without.",
  baseline: arm("verified by the policy's own word, with repair", {}, undefined),
  method: arm("verified with a calculator, with repair", {}, adder),
  others: {
    tool: arm("verified with a calculator, without repair", { repair: false }, adder),
    free: arm("verified with a calculator, with repair, and β_div = 0.05 in place of 1", {}, adder, 0.05),
  },
});
