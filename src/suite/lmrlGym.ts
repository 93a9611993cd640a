/** Eight multi-turn games, each scored on the scale of its own flawed and expert players. */

import { succeeded, type Trajectory } from "../core/types.ts";
import { normalisedScore, type ScaleMarks } from "../diagnose/normalisedScore.ts";
import { carDealer } from "../env/carDealer/carDealer.ts";
import { chess } from "../env/chess/chess.ts";
import { chessEndgames } from "../env/chess/chessEndgames.ts";
import type { Environment } from "../env/environment.ts";
import { explained } from "../env/explained.ts";
import { guessMyCity } from "../env/guessing/guessMyCity.ts";
import { twentyQuestions } from "../env/guessing/twentyQuestions.ts";
import { textMaze } from "../env/textMaze.ts";
import { textNavigation } from "../env/textNavigation.ts";
import { wordle } from "../env/wordle/wordle.ts";
import { type EvaluationSuite, meanRow, playParts, type SuiteRow, shareRow } from "./suite.ts";

interface Game {
  make(): Environment;
  /** The reward that the return is summed from. */
  readonly reward: "cost" | "outcome";
  /** Mean returns on the held-out tasks: the lowest possible, the flawed player's (over 12 seeds), the expert's. */
  readonly marks: ScaleMarks;
  /** Instructions for an agent that was not trained here. */
  readonly rules: string;
}

/** The eight games. */
export const lmrlGames: readonly Game[] = [
  {
    make: () => textMaze(),
    reward: "cost",
    marks: { random: -50, data: -11.5, best: -4.91 },
    rules:
      "Walk to the goal of a maze in as few moves as you can. Places are column and row, from 0, row 0 in the north. Answer with one move and nothing else: go north, go east, go south or go west.",
  },
  {
    make: () => textNavigation(),
    reward: "cost",
    marks: { random: -40, data: -27.7, best: -6.65 },
    rules:
      "You walk through a house of rooms and see only the one that you are in. Do what is asked in as few actions as you can. Answer with one action and nothing else: go and a direction, take and a thing, or drop and a thing. You can carry one thing.",
  },
  {
    make: () => wordle(),
    reward: "cost",
    marks: { random: -6, data: -5.42, best: -2.27 },
    rules:
      "Find a hidden English word of five letters in six guesses. Answer with one word and nothing else. Each letter of a guess is marked: green in its place, yellow elsewhere in the word, grey not in it.",
  },
  {
    make: () => twentyQuestions(),
    reward: "cost",
    marks: { random: -20, data: -18.1, best: -6.36 },
    rules:
      "Find the everyday thing that somebody thinks of, by at most twenty questions and guesses. Answer with one question that can be answered with yes or no, or with the word guess and a name, and nothing else.",
  },
  {
    make: () => guessMyCity(),
    reward: "cost",
    marks: { random: -20, data: -10.3, best: -2.12 },
    rules:
      "Find out from which city of the world somebody comes, by at most twenty questions and guesses. Answer with one question, or with the word guess and the name of a city, and nothing else. Fair questions: which continent is it on; which language do people speak; with what do people pay; how many people live there; is it a capital; with which letter does it begin.",
  },
  {
    make: () => chess(),
    reward: "outcome",
    marks: { random: -1, data: 0.75, best: 1 },
    rules:
      "Play chess with white. Upper-case letters are your pieces. Answer with one legal move and nothing else, by its squares, such as e2 e4.",
  },
  {
    make: () => chessEndgames(),
    reward: "outcome",
    marks: { random: -1, data: 0.81, best: 1 },
    rules:
      "Mate the black king with white. Upper-case letters are your pieces. Answer with one legal move and nothing else, by its squares, such as e2 e4.",
  },
  {
    make: () => carDealer(),
    reward: "outcome",
    marks: { random: 0, data: 0.855, best: 1 },
    rules:
      "You sell a car, for as much as you can. What the buyer would pay at most is not known to you; it is near the list price: compact 20, sedan 30, van 36, truck 44, roadster 60, all in thousands. Answer with one sentence: an offer that names the car and the price, a question about the budget, or a word about the warranty.",
  },
];

const returnOf = (t: Trajectory, reward: Game["reward"]): number =>
  t.turns.reduce((sum, turn) => sum + (turn.rewards[reward] ?? 0), 0);

export const lmrlGym: EvaluationSuite = {
  name: "lmrl-gym",
  summary: "eight games of many turns: mazes, words, questions, chess, a sale",
  measures:
    "A score is the mean return on the scale of its game: 0 is the worst that can be, 50 the game's flawed player, 100 its expert, which knows what is hidden. Returns are −1 for each turn but the last where something is to be found, 1, 0 or −1 for chess, and the share of the best price for a sale.",
  paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models",
  async run(options) {
    const { agent } = options;
    const reads = typeof agent !== "string" && "reply" in agent;
    const parts = lmrlGames.map(({ make, rules }) => {
      const environment = make();
      return { environment: reads ? explained(environment, rules) : environment, split: "test" };
    });
    const { played, failed } = await playParts(parts, options);
    const games = parts.map(({ environment }, i) => {
      const { reward, marks } = lmrlGames[i]!;
      const trajectories = played[i] ?? [];
      return {
        name: environment.name,
        marks,
        trajectories,
        returns: trajectories.map((t) => returnOf(t, reward)),
      };
    });
    const scores = games.map(({ name, marks, returns }): SuiteRow => {
      const row = meanRow("Score", name, returns);
      const { mean, low, high, n } = row.value;
      const score = (x: number): number => normalisedScore(x, marks);
      return { ...row, value: { mean: score(mean), low: score(low), high: score(high), n } };
    });
    const rows: readonly SuiteRow[] = [
      meanRow(
        "Score",
        "mean of the games",
        scores.map(({ value }) => value.mean),
      ),
      ...scores,
      ...games.map(({ name, returns }) => meanRow("Return", name, returns)),
      ...games.map(({ name, trajectories }) => shareRow("Success", name, trajectories.map(succeeded))),
      ...games.map(({ name, trajectories }) =>
        meanRow(
          "Turns",
          name,
          trajectories.map((t) => t.turns.length),
        ),
      ),
    ];
    return { rows, failed };
  },
};
