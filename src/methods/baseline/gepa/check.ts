import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { codewords } from "../../../env/codewords.ts";
import { lineEditor } from "../../../memory/instructions/proposers.ts";
import { method } from "../../../method/method.ts";
import { type Arm, type Choice, defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../grpo/method.ts";
import { reflectingWith } from "./method.ts";
import { quoting, type Reflector } from "./reflector.ts";

const length = 4;
const words = ["w0", "w1", "w2", "w3", "w4", "w5"];
/** Episodes of a search, including those for selection. */
const episodes = 240;

/** Questions with one code as the answer; feedback names the errors of a reply, as in "not w3 at 2 , w1 at 4". */
const world = (seed: number) =>
  codewords({ questions: 40, same: true, says: true, length, vocabulary: words.length, seed });

/** A frozen policy that reads such lines: each lowers its word at its position by 4 nats. */
const frozen = () =>
  tabularEngine({
    context: "message",
    prior: (_context, word) => (words.includes(word) ? 0 : -1e9),
    reading: {
      isRead: (message) => message.startsWith("not "),
      shift: (told, reply, word) =>
        -4 *
        new Set(
          told
            .flatMap((text) => text.match(/w\d+ at \d+/g) ?? [])
            .filter((one) => one === `${word} at ${reply.length + 1}`),
        ).size,
    },
  });

/** All possible feedback items about a reply, one per word. */
const stock = words.flatMap((word) => Array.from({ length }, (_, place) => `not ${word} at ${place + 1}`));
const blind: Reflector = async ({ text, random }) => {
  const member = { id: "", text, weight: 0, draws: 0, from: [] };
  const [edited] = await lineEditor(stock, 32)({ members: [member], attempts: [], count: 1, random });
  return edited;
};

/** Tasks per reflection, and tasks held out for selection. */
const searches = [2, 3, 6].flatMap((tasks) => [8, 16].map((reserved) => ({ tasks, reserved })));

const arm = (what: string, reflect: Reflector): Arm => {
  const arms = searches.map(({ tasks, reserved }) =>
    trainingArm({
      what,
      recipe: method({
        id: "gepa",
        family: "baseline",
        summary: what,
        weightFree: true,
        says: ["\n"],
        defaults: { groupSize: 1 },
        slots: (settings) => reflectingWith(settings, { reflect, reserved }),
      }),
      settings: { tasks },
      grid: [{}],
      environment: world,
      engine: frozen,
      iterations: 1000,
      episodes,
      metric: reward,
      more: async (done) => ({ success: (await done.evaluate("test")).success.mean }),
    }),
  );
  const indexOf = (choice: Choice): number =>
    searches.findIndex(({ tasks, reserved }) => tasks === choice.tasks && reserved === choice.reserved);
  return {
    what,
    grid: searches,
    measure: (choice, seed) => arms[indexOf(choice)]!.measure({}, seed),
  };
};

const reward = async (done: TrainedInMemory): Promise<number> => (await done.evaluate("test")).reward;

export default defineCheck({
  id: "gepa",
  level: "shared",
  simpler: ["baseline", "blind"],
  claim:
    "Instructions rewritten from what was said of attempts get further than GRPO on their rewards, with as many episodes.",
  metric: "share of right words in test replies after 240 episodes, those of selection included",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  notes:
    "No language model takes part: the reflector quotes what the environment says, and the policy is a table that obeys such quotations. The check is of the search, its selection and its budget, not of what a capable model would write. GRPO is told less, the share of right words; that is the comparison of the paper. The first design's opponent was the same search with a blind editor of lines, which learns next to nothing (0.16 against 0.91).",
  unequalCost: "a search ends with the iteration in which its episodes are spent, up to 28 beyond",
  baseline: trainingArm({
    what: "GRPO on the same policy, which is told nothing",
    recipe: grpo,
    settings: { ...plainAscent, tasks: 3 },
    grid: [10, 30, 100].flatMap((learningRate) => [4, 8].map((groupSize) => ({ learningRate, groupSize }))),
    environment: world,
    engine: frozen,
    iterations: 1000,
    episodes,
    metric: reward,
  }),
  method: arm("reflection on what was said", quoting()),
  others: { blind: arm("the same search with a blind editor of lines", blind) },
});
