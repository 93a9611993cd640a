import type { Able } from "../../../core/evaluator.ts";
import type { Model } from "../../../core/model.ts";
import type { Task } from "../../../core/types.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { type Reading, tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe, type SlotChoices } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { lock, settingsOf } from "../../../worlds/lock.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { amplified } from "./amplified.ts";
import { r3l, reflecting } from "./method.ts";

const wheels = 10;
const environment = (seed: number) => lock({ locks: 6, wheels, settings: 4, seed });

/** "wheel 4 not s2" lowers that setting's logit by three nats at that wheel, independent of training. */
const reading: Reading = {
  isRead: (message) => message.startsWith("wheel "),
  shift: (told, _reply, word, context) => (told.includes(`wheel ${context[4]} not ${word}`) ? -3 : 0),
};

/** Initially the right setting has probability 0.676 at each wheel: a lock opens in 2 % of the attempts. */
const start = Math.log((0.676 * 3) / 0.324);

const engine = (seed: number) => {
  const right = new Map(
    environment(seed)
      .tasks("train")
      .map((t) => [`${t.metadata.number}`, settingsOf(t)]),
  );
  return tabularEngine({
    context: "message",
    reading,
    prior: (context, word) => {
      if (!/^s\d$/.test(word)) return -1e9;
      return right.get(context[2] ?? "")?.[Number(context[4])] === word ? start : 0;
    },
  });
};

/** Exact probability of opening a lock; mean over the locks. */
const opens = (policy: Model, tasks: readonly Task[]): Promise<number> =>
  meanOver(tasks, async (task) => {
    let chance = 1;
    for (const [wheel, right] of settingsOf(task).entries()) {
      const content = `lock ${task.metadata.number} wheel ${wheel}`;
      const [p] = await replyProbabilities(policy, { ...task, prompt: [{ role: "user", content }] }, [right]);
      chance *= p ?? 0;
    }
    return chance;
  });

/** Names the first wrong setting with this probability, otherwise that of a random wheel. */
const critiquer = (accuracy: number): Able<"critique"> => ({
  name: "scripted",
  async critique({ task, trajectory }, { random }) {
    const right = settingsOf(task);
    const set = trajectory.turns.map(({ action }) => action.content);
    const wrong = set.findIndex((setting, wheel) => setting !== right[wheel]);
    if (wrong < 0) return { text: "it opened", outcome: "success" };
    const turn = random.split("accuracy").next() < accuracy ? wrong : random.split("wheel").below(wheels);
    return { text: `wheel ${turn} not ${set[turn]}`, outcome: "failure", turn };
  },
});

/** Budget of generated turns. Replayed turns do not count. */
const budget = 9600;
const target = 0.9;

const arm = (recipe: Recipe, what: string, iterations: number): Arm => ({
  what,
  grid: [300, 1000, 3000, 10_000, 30_000].map((learningRate) => ({ learningRate })),
  async measure(choice, seed) {
    const tasks = environment(seed).tasks("train");
    let reached = budget;
    const curve: number[] = [];
    const { counters } = await trainInMemory({
      environment: environment(seed),
      engine: engine(seed),
      method: recipe.build({
        ...plainAscent,
        tasks: 6,
        groupSize: 8,
        learningRate: Number(choice.learningRate),
      }),
      seed,
      iterations,
      onIteration: async (_done, state, policy) => {
        const success = await opens(policy, tasks);
        curve.push(success);
        if (success >= target) reached = Math.min(reached, state.counters.generations ?? budget);
      },
    });
    const cost = { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 };
    return {
      value: reached,
      cost,
      curve,
      more: { final: curve.at(-1)!, steps: counters["environment.steps"] ?? 0 },
    };
  },
});

/** The method itself, with a critiquer whose accuracy is known. */
const reflectingWith = (accuracy: number, more: SlotChoices = {}): Recipe =>
  method({
    ...r3l,
    says: ["wheel not"],
    slots: (settings) => ({ ...reflecting(critiquer(accuracy))(settings), ...more }),
  });

export default defineCheck({
  id: "r3l",
  level: "shared",
  simpler: ["unmasked", "elsewhere"],
  claim: "Going back to the first mistake with advice opens locks after fewer turns than attempts alone do.",
  metric: `turns generated until locks open with a chance of ${target}, ${budget} where they never did`,
  direction: "lower",
  smallestEffect: 500,
  range: [0, 9600],
  tuningSeeds: 2,
  unequalCost:
    "turns generated are the measure itself: a retry makes fewer of them than an attempt, and attempts that open the lock are not tried again",
  notes:
    "The critiquer names the first wrong wheel with a chance of 0.7, else any; a table cannot write reflections, so that none is learnt from. Replayed turns are steps of the environment but are not generated; `steps` counts them. `unmasked` lets the turns before the pivot learn as well, `elsewhere` has pivots at random. Tried before on other seeds: smaller step sizes, at which neither arm gets there within the turns.",
  baseline: arm(grpo, "GRPO", Math.ceil(budget / (6 * 8 * wheels))),
  method: arm(reflectingWith(0.7), "R3L, first mistakes found in 7 of 10 attempts", 30),
  others: {
    unmasked: arm(
      reflectingWith(0.7, { advantage: amplified() }),
      "R3L, turns before the pivot learn as well",
      30,
    ),
    elsewhere: arm(reflectingWith(0), "R3L, pivots at random", 30),
  },
});
