import { mapById } from "../../../common/mapById.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded } from "../../../core/types.ts";
import { type Features, type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { screens } from "../../../env/screens.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { sft } from "../../baseline/sft/method.ts";
import { guiExplorationLabWith } from "./method.ts";
import { navigationScores } from "./navigation.ts";

const world = (seed: number) => screens({ pointing: "name", rateSteps: true, seed });

/** The current screen and the messages so far. */
function read(seen: readonly string[]) {
  const [from, to] = [seen.indexOf("icons") + 2, seen.indexOf("<assistant>")];
  const icons = seen
    .slice(from, to)
    .join(" ")
    .replace("<end>", "")
    .split(" , ")
    .map((icon) => icon.trim().split(" "));
  return {
    goal: seen[seen.indexOf("to") + 2]!,
    at: seen[seen.indexOf("at") + 2]!,
    icons,
    said: seen.slice(to + 1),
  };
}

/** Weights for each triple of screen, goal and icon (memory), and for tried icons, going back and finishing. */
const features: Features = (seen) => {
  const { goal, at, icons, said } = read(seen);
  if (said.length === 0)
    return [goal === at ? "there" : icons.every(([name, tried]) => !name || tried) ? "exhausted" : "open"];
  return [`${at} to ${goal}`, ...icons.filter(([, tried]) => tried).map(([name]) => `tried ${name}`)];
};
/** The initial policy knows the format of an action and the icons on the screen. */
const prior: Prior = (seen, word) => {
  const { icons, said } = read(seen);
  const sayable =
    said.length === 0
      ? /^(click|back|finish)$/.test(word)
      : said.length === 1 && said[0] === "click"
        ? icons.some(([name]) => name === word)
        : word === "<end>";
  return sayable ? 0 : -1e9;
};

/** Four times every task of a split. */
async function scores(policy: Model, seed: number, split: string) {
  const environment = world(seed);
  const tasks = mapById(environment.tasks(split));
  const rounds = Array.from({ length: 4 }, (_, round) =>
    evaluate({
      environment,
      agent: policy,
      split,
      mode: "sampled",
      tasks: tasks.size,
      random: randomStream(seed).split("scores", round),
      limit: (work) => work(),
    }),
  );
  const trajectories = (await Promise.all(rounds)).flatMap((r) => r.trajectories);
  return navigationScores(
    trajectories.map((t) => ({
      success: succeeded(t),
      steps: t.turns.length,
      shortest: Number(tasks.get(t.task)!.metadata.shortest),
      strayed: t.turns[0]?.rewards.onPath === 0,
    })),
  );
}

const arm = (what: string, recipe: Recipe, iterations: number): Arm => ({
  what,
  grid: [0.3, 1, 3, 10, 30].map((learningRate) => ({ learningRate })),
  async measure({ learningRate }, seed) {
    const { policy, counters } = await trainInMemory({
      environment: world(seed),
      engine: tabularEngine({ context: "message", features, prior }),
      method: recipe.build({ ...plainAscent, tasks: 2, groupSize: 8, learningRate: Number(learningRate) }),
      seed,
      iterations,
      contextTokens: 2000,
    });
    const [unseen, seen] = [await scores(policy, seed, "unseen graph"), await scores(policy, seed, "test")];
    return {
      value: unseen.success,
      cost: {
        episodes: (counters.episodes ?? 0) + (counters.demonstrations ?? 0),
        tokens: counters["tokens.sampled"] ?? 0,
      },
      more: {
        "SPL, unseen": unseen.spl,
        "recovery, unseen": unseen.recovery,
        "success in apps practised in": seen.success,
        "turns practised": counters.turns ?? 0,
      },
    };
  },
});

export default defineCheck({
  id: "gui-exploration-lab",
  level: "shared",
  claim:
    "After the same imitation, single steps and then whole episodes of practice make an agent find its way in apps never seen more often than more imitation does.",
  metric: "success in apps never seen",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  tuningSeeds: 2,
  unequalCost:
    "demonstrations, single steps and whole episodes differ in length: the arms have about as many turns of experience",
  notes:
    "A first attempt with step sizes of 1, 3 and 10 came to +0.019 [0.001, 0.037] after 20 seeds, below the smallest effect of interest, with both arms' best at an edge of the grid. Weights on screen and goal together are memory, which misleads in other apps; what carries over is not to click again what was tried, when to go back and when to finish. Tried on other seeds, with differences of a few hundredths in either direction: a longer imitation (200 updates), whole episodes or single turns alone, ten apps instead of four, apps in which every screen has icons. With 8,000 turns of experience those few weights move by less than a nat, and two times the shortest way and five leaves even a tidy search little over a random one.",
  baseline: arm("imitation all the way", sft, 1000),
  method: arm(
    "imitation, single turns, whole episodes",
    guiExplorationLabWith({ imitation: 60, singleTurn: 60 }),
    175,
  ),
});
