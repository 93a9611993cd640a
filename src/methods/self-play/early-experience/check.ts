import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainingArm } from "../../../train/trainingArm.ts";
import { earlyExperience, experienced } from "./method.ts";
import { type OwnActionsOptions, reflection } from "./ownActions.ts";
import { lastWord, type Workshop, workshop, workshopReader, workshopSpeaker } from "./workshop.ts";

const samples = 8;
/** Share of a split's tasks that the first reply does, over samples at temperature 1; and of the replies that reflect. */
async function replies(policy: Model, world: Workshop, split: string) {
  const { codec } = policy;
  const asked = world
    .tasks(split)
    .flatMap((task) => Array.from({ length: samples }, (_, seed) => ({ task, seed })));
  const said = await policy.sample(
    asked.map(({ task, seed }) => ({ prompt: codec.open(task.prompt), maxTokens: 9, seed })),
  );
  const texts = said.map(({ action }) => codec.decode(action));
  return {
    right: mean(texts.map((text, i) => Number(lastWord(text) === world.right(asked[i]!.task)))),
    reflects: mean(texts.map((text) => Number(text.startsWith("after")))),
  };
}

/** Says of every own action that it led to the same state, whatever it did. */
const blind: OwnActionsOptions["reflect"] = (own, expert) =>
  reflection({ ...own, seen: own.seen.replace(/s\d/, "s0") }, expert);

const arm = (what: string, options: Partial<OwnActionsOptions>, more: readonly number[] = []): Arm =>
  trainingArm({
    what,
    recipe: method({
      id: "early-experience",
      family: "self-play",
      summary: what,
      says: earlyExperience.says ?? [],
      slots: () => experienced({ learn: "reflection", alternatives: 4, share: 0, ...options }),
    }),
    environment: (seed) => workshop(seed, more),
    engine: () => tabularEngine({ prior: workshopSpeaker, features: workshopReader }),
    iterations: 30,
    settings: { tasks: 96, minibatches: 1, warmUp: 0 },
    grid: [0.3, 1, 3, 10].map((learningRate) => ({ learningRate })),
    metric: async ({ policy }, seed) => (await replies(policy, workshop(seed, more), "test")).right,
    more: async ({ policy }, seed) => {
      const world = workshop(seed, more);
      return {
        "on tasks of the expert": (await replies(policy, world, "train")).right,
        "held-out replies that reflect": (await replies(policy, world, "test")).reflects,
      };
    },
  });

export default defineCheck({
  id: "early-experience",
  level: "table",
  claim:
    "Imitating an expert with reflections on what own actions led to does more held-out tasks than imitating the expert alone, without any reward.",
  metric: "share of held-out tasks done by the first reply",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  simpler: ["baseline", "blind"],
  unequalCost:
    "all arms make 30 updates on the same 48 demonstrations; an own action costs an episode and its words, 192 of them in all, and no reward is read",
  notes:
    "The check is of reflections. A table shares nothing between predicting observations and acting, so that predicting first (learn=world) cannot help there. A transformer shares its weights: on this world, from random weights of width 32 and 64, with 24 things of three or four kinds and 240 to 480 updates, predicting first moved held-out success to between 0.19 and 0.42, where imitation alone had 0.28 to 0.35, one seed each: no direction. As many further demonstrations as the expert could give (48) are the arm that shows what labels are worth.",
  baseline: arm("the expert's actions alone", { alternatives: 0 }),
  method: arm("and reflections on what four own actions led to", {}),
  others: {
    blind: arm("and reflections that always name the same outcome", { reflect: blind }),
    labels: arm(
      "twice as many demonstrations of the expert, and no own actions",
      { alternatives: 0 },
      [2, 3],
    ),
  },
});
