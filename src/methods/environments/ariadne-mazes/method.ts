import { method } from "../../../method/method.ts";
import { levelCurriculum } from "./levelCurriculum.ts";

export const ariadneMazes = method({
  id: "ariadne-mazes",
  family: "environments",
  summary: "a curriculum over levels of exact difficulty, to reach what the base policy never solved",
  paper: "Ariadne: A Controllable Framework for Probing and Extending VLM Reasoning Boundaries",
  mechanism:
    "Mazes come with two exact knobs, the length of a shortest way and the number of its turns, and with a verifier that takes any way (the environment controlledMaze). Practice stays at levels that are solved sometimes: a level is left for the next once it is mastered, and mastered ones come back in a share of the practice. So groups rarely agree, and what was learnt below carries into levels on which the base policy, tried k times, never succeeded.",
  equation: [
    "practised: levels l with 0.2 ≤ success[l] ≤ 0.8; if there are none, the easiest with success[l] ≤ 0.8; 15 % from those above",
    "B0 = { m : base pass@64(m) = 0 }, fixed before training and never trained on",
    "pass@k = 1 − C(n − c, k) / C(n, k)          n tried, c right; curves that cross mean sharpening, not extension",
  ].join("\n"),
  source:
    "knobs, verifiable rewards and curriculum from the paper's summary; the band, the share of review and the running success of a level are ours",
  slots: ({ tasks }) => ({ data: levelCurriculum({ tasks }) }),
});
