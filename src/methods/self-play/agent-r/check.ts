import { constant } from "../../../advantage/constant.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { Rollout } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { modelActor, scriptActor } from "../../../rollout/actor.ts";
import { playEpisode } from "../../../rollout/episode.ts";
import { treeSearch } from "../../../rollout/treeSearch.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { keyDoor, rightAction } from "../../../worlds/keyDoor.ts";
import { rethink } from "./method.ts";
import { type RevisingOptions, revising } from "./revising.ts";

const cells = 4;
/** Room for a whole bad episode and its revision; the search's own episodes have 10 turns. */
const environment = () => keyDoor({ cells, turns: 22 });
const searchTurns = 10;
const opened = (t: Trajectory): number => t.turns.at(-1)?.rewards.outcome ?? 0;

/** Where an expert would be after this action, if it did right. */
const isClean = (before: string, did: string): boolean => rightAction(before, cells) === did;

/**
 * A policy after imitation of clean paths: after a right action, or at the start, the right one has odds of e² · ½; after a wrong one
 * it repeats itself with the same odds. The context is the last action with the observations around it.
 */
const prior: Prior = (context, word) => {
  const seen = context.join(" ").match(/cell \d key (?:yes|no)/g) ?? [];
  const [before, now] = [seen.at(-2), seen.at(-1) ?? ""];
  const did = context[context.lastIndexOf("<assistant>", context.length - 2) + 1] ?? "";
  if (!/^(left|right|pick|open|wave|sing|rethink)$/.test(word)) return -1e9;
  if (word === rethink) return -2;
  const clean = before === undefined || isClean(before, did);
  return word === (clean ? rightAction(now, cells) : did) ? 2 : 0;
};
/** `cell 1 key no <end> <assistant> left <end> <user> cell 0 key no <end> <assistant>` */
const contextTokens = 15;

/** Success within ten turns after two wrong actions, and how often the same action follows itself. */
async function afterMistakes(policy: Model, seed: number) {
  const env = environment();
  const wrong = scriptActor("policy", () => "wave", { codec: policy.codec });
  const acting = modelActor({ ...policy, sample: (requests) => policy.sample(requests) });
  const random = randomStream(seed).split("after mistakes");
  const played = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const shared = { environment: env, task: env.tasks("test")[0]!, random: random.split(i) };
      const [begun] = await playEpisode({ ...shared, id: `b${i}`, actor: () => wrong, limits: { turns: 2 } });
      const from = { trajectory: begun!, turn: 2, why: "branch" } as const;
      return playEpisode({ ...shared, id: `${i}`, actor: () => acting, from, limits: { turns: 12 } });
    }),
  );
  const own = played.flat();
  const pairs = own.flatMap(({ turns }) =>
    turns.slice(3).map(({ action }, k) => Number(action.content === turns[k + 2]!.action.content)),
  );
  return { success: mean(own.map((t) => Number(succeeded(t)))), repeated: mean(pairs) };
}

const search = treeSearch({
  ...{ simulations: 16, width: 3, limits: { turns: searchTurns }, worth: opened },
  rule: { kind: "uct", exploration: 0.5 },
});
const revised = (at: RevisingOptions["at"], most: number): Rollout =>
  revising(search, {
    ...{ critiquer: scriptedCritiquer({ detail: "hint" }), thought: rethink, worth: opened },
    ...{ bad: 0.2, good: [0.5, 1], most, at },
  });
const recipe = (id: string, rollout: Rollout): Recipe =>
  method({
    id,
    family: "self-play",
    summary: id,
    says: [rethink],
    slots: { rollout, advantage: constant(), objective: likelihood() },
  });

const arm = (what: string, rollout: Rollout) =>
  trainingArm({
    what,
    recipe: recipe(what, rollout),
    environment,
    engine: () => tabularEngine({ context: contextTokens, prior }),
    iterations: 300,
    episodes: 480,
    settings: { ...plainAscent, tasks: 2 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: async ({ policy }, seed) => (await afterMistakes(policy, seed)).success,
    more: async ({ policy, curve }, seed) => ({
      "repeated actions": (await afterMistakes(policy, seed)).repeated,
      "valid revisions": mean(curve.map((m) => m.revised ?? 0)),
    }),
  });

export default defineCheck({
  id: "agent-r",
  level: "shared",
  simpler: ["baseline", "good episodes alone"],
  claim:
    "Imitating episodes that are revised at their first error teaches to recover from mistakes better than revising them at their end, or imitating good ones alone.",
  metric: "success within ten turns after two wrong actions that were forced, after 480 episodes",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  notes:
    "A first design is in the log: its policy's context was too short to hold the action before, so that it had no habit of repeating mistakes. Revising early beat revising late there (0.78 and 0.66), and good episodes alone, which often contain a mistake and its repair, beat both (0.91).",
  baseline: arm("revised at the end", revised("end", 4)),
  method: arm("revised at the first error", revised("first error", 4)),
  others: { "good episodes alone": arm("good episodes alone", revised("end", 0)) },
});
