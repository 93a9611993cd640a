/** Situations in which off-policy intervals are put to the test. */
import type { Random } from "../../src/core/random.ts";
import type { Policy, Regime, World } from "./world.ts";

const coin = (mean: number, random: Random): number => (random.next() < mean ? 1 : 0);

/** Three kinds of question, four ways to answer; the kinds do not follow from one another. */
const answering = (turns: number): World => ({
  turns,
  start: [0.5, 0.3, 0.2],
  next: Array.from({ length: 3 }, () => Array.from({ length: 4 }, () => [0.5, 0.3, 0.2])),
  reward: [
    [0.8, 0.5, 0.3, 0.1],
    [0.2, 0.7, 0.4, 0.3],
    [0.1, 0.3, 0.6, 0.9],
  ],
});

/** Two states, two actions: the good one tends to lead to, and stay in, the good state. */
const conversation = (turns: number): World => ({
  turns,
  start: [0.5, 0.5],
  next: [
    [
      [0.8, 0.2],
      [0.3, 0.7],
    ],
    [
      [0.6, 0.4],
      [0.1, 0.9],
    ],
  ],
  reward: [
    [0.1, 0.3],
    [0.5, 0.8],
  ],
});

const uniform: Policy = Array.from({ length: 3 }, () => [0.25, 0.25, 0.25, 0.25]);
const better: Policy = [
  [0.55, 0.25, 0.1, 0.1],
  [0.1, 0.6, 0.2, 0.1],
  [0.1, 0.1, 0.3, 0.5],
];
/** The best answer almost surely, which the behaviour gives almost never. */
const sharp: Policy = [
  [0.97, 0.01, 0.01, 0.01],
  [0.01, 0.97, 0.01, 0.01],
  [0.01, 0.01, 0.01, 0.97],
];
const opposite: Policy = [
  [0.01, 0.19, 0.3, 0.5],
  [0.5, 0.01, 0.29, 0.2],
  [0.5, 0.3, 0.19, 0.01],
];
const never: Policy = [
  [0, 0.2, 0.3, 0.5],
  [0.5, 0.2, 0.2, 0.1],
  [0.5, 0.3, 0.1, 0.1],
];
const half: Policy = [
  [0.5, 0.5],
  [0.5, 0.5],
];
const kind: Policy = [
  [0.35, 0.65],
  [0.3, 0.7],
];
/** One state and two versions, of which the second answers a tenth. */
const split: World = { turns: 1, start: [1], next: [[[1], [1]]], reward: [[0.55, 0.6]] };

export const regimes: readonly Regime[] = [
  {
    name: "one turn, good overlap",
    world: answering(1),
    behaviour: uniform,
    target: better,
    trajectories: 1000,
    draw: coin,
    range: [0, 1],
    sound: true,
  },
  {
    name: "four turns, good overlap",
    world: conversation(4),
    behaviour: half,
    target: kind,
    trajectories: 800,
    draw: coin,
    range: [0, 4],
    sound: true,
  },
  {
    name: "a version with a tenth of the sessions",
    world: split,
    behaviour: [[0.9, 0.1]],
    target: [[0, 1]],
    trajectories: 2000,
    draw: coin,
    range: [0, 1],
    sound: true,
  },
  {
    name: "users of five sessions each",
    world: answering(1),
    behaviour: uniform,
    target: better,
    trajectories: 1000,
    draw: (mean, random) => mean + 0.3 * random.normal(),
    users: { sessions: 5, spread: 0.5 },
    sound: true,
  },
  {
    name: "few: 80 trajectories",
    world: answering(1),
    behaviour: uniform,
    target: better,
    trajectories: 80,
    draw: coin,
    range: [0, 1],
    sound: true,
  },
  {
    name: "skewed rewards",
    world: answering(1),
    behaviour: uniform,
    target: better,
    trajectories: 1000,
    draw: (mean, random) => mean * Math.exp(1.2 * random.normal() - 0.72),
    sound: true,
  },
  {
    name: "rare rewards: one in a hundred pays a hundredfold",
    world: answering(1),
    behaviour: uniform,
    target: better,
    trajectories: 600,
    draw: (mean, random) => 100 * coin(mean / 100, random),
    sound: true,
  },
  {
    name: "feedback from some: 60 % of the pleased, 15 % of others",
    world: answering(1),
    behaviour: uniform,
    target: better,
    trajectories: 2000,
    draw: coin,
    range: [0, 1],
    answers: { above: 0.6, below: 0.15 },
    sound: true,
  },
  {
    name: "poor overlap: the target does what was done once in a hundred times",
    world: answering(1),
    behaviour: opposite,
    target: sharp,
    trajectories: 500,
    draw: coin,
    range: [0, 1],
    sound: true,
  },
  {
    name: "poor overlap and few: 150",
    world: answering(1),
    behaviour: opposite,
    target: sharp,
    trajectories: 150,
    draw: coin,
    range: [0, 1],
    sound: true,
  },
  {
    name: "twelve turns: weights multiply",
    world: conversation(12),
    behaviour: half,
    target: kind,
    trajectories: 500,
    draw: coin,
    range: [0, 12],
    sound: true,
  },
  {
    name: "never logged: half of what the target does",
    world: answering(1),
    behaviour: never,
    target: sharp,
    trajectories: 1000,
    draw: coin,
    range: [0, 1],
    sound: false,
  },
  {
    name: "propensities logged wrong",
    world: answering(1),
    behaviour: opposite,
    target: better,
    trajectories: 1000,
    draw: coin,
    range: [0, 1],
    misstated: 0.7,
    sound: false,
  },
];
