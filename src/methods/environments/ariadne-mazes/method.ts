import { method } from "../../../method/method.ts";
import { levelCurriculum } from "./levelCurriculum.ts";

export const ariadneMazes = method({
  id: "ariadne-mazes",
  family: "environments",
  summary: "a curriculum over mazes of exact difficulty, up to levels that the base policy never solves",
  paper: "Ariadne: A Controllable Framework for Probing and Extending VLM Reasoning Boundaries",
  mechanism:
    "Mazes have two exact difficulty parameters, the length of a shortest path and its number of turns, and a verifier that accepts any valid path (the environment controlledMaze). Training stays at levels that are solved sometimes: once a level is mastered the next one follows, and mastered levels are reviewed in a share of the tasks. Groups therefore rarely have uniform rewards, and skills from lower levels transfer to levels on which the base policy never succeeds in k attempts.",
  equation: [
    "trained on: levels l with 0.2 ≤ success[l] ≤ 0.8; if there are none, the easiest with success[l] ≤ 0.8; 15 % from those above",
    "B0 = { m : base pass@64(m) = 0 }, fixed before training and never trained on",
    "pass@k = 1 − C(n − c, k) / C(n, k)          n tried, c right; curves that cross mean sharpening, not extension",
  ].join("\n"),
  source:
    "knobs, verifiable rewards and curriculum from the paper's summary; the band, the share of review and the running success of a level are ours",
  options: {
    low: { help: "success from which a level is trained", default: 0.2, low: 0, high: 1 },
    high: { help: "success above which a level is mastered", default: 0.8, low: 0, high: 1 },
    review: { help: "probability of drawing from a mastered level", default: 0.15, low: 0, high: 1 },
    rate: {
      help: "weight of an iteration in the running success of its levels",
      default: 0.3,
      low: 1e-6,
      high: 1,
    },
  },
  slots: ({ tasks }, { low, high, review, rate }) => ({
    data: levelCurriculum({ tasks, band: [low, high], review, rate }),
  }),
});
