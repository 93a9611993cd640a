import { method } from "../../../method/method.ts";
import { exploring, type Grades, graded, gradedVerdict, usualGrades } from "./gradedVerdict.ts";

export const armThinker = method({
  id: "arm-thinker",
  family: "judges",
  summary: "trains a judge that calls tools: first calls pay, then right verdicts after calls of use",
  paper:
    "ARM-Thinker: Reinforcing Multimodal Generative Reward Models with Agentic Tool Use and Visual Reasoning",
  mechanism:
    "A judge may call tools before its verdict. Where it rarely calls any, a reward for right verdicts alone finds few calls to reinforce. So in a first stage a call pays by itself, whatever the verdict. In the second a right verdict pays more after a call that told something, a call pays a little where the verdict is wrong, and a call that failed adds nothing to a right one, so that empty calls are not worth while.",
  equation: [
    "stage 1: R = 0.3 + 0.1·[a tool was called]                 0 without a verdict, in both stages",
    "stage 2: R = 0.3 + 0.1·[a tool was called]                 wrong verdict",
    "         R = 0.3 + 0.7 + 0.5·[a call told something]       right verdict",
    "A = (R − mean R) / std R                                   over the group",
  ].join("\n"),
  source:
    "the second stage's rewards from the paper's code, the first's from notes on it; 20 iterations of the first stage are ours. In an environment of several turns every turn but the last is a call, and the environment says whether it told something: it was executable and led to another state. Dropping prompts that are always judged rightly is left out",
  options: {
    stage: { help: "iterations of the first stage", default: 20, low: 0, high: 1e9, whole: true },
    tried: { help: "R_try, reward of calling a tool", default: 0.1, low: 0, high: 100 },
    worked: {
      help: "R_succ, reward of a call that told something before a right verdict",
      default: 0.5,
      low: 0,
      high: 100,
    },
  },
  slots: (_s, o) => ({ feedback: gradedVerdict((j) => graded(j, gradesOf(o))) }),
  phases: (_s, o) => [
    {
      name: "exploring",
      from: 0,
      until: o.stage,
      slots: { feedback: gradedVerdict((j) => exploring(j, gradesOf(o))) },
    },
  ],
});

const gradesOf = ({ tried, worked }: Pick<Grades, "tried" | "worked">): Grades => ({
  ...usualGrades,
  tried,
  worked,
});
