/** Twenty questions: find out of which thing somebody thinks. */
import type { Environment } from "../environment.ts";
import { type Guessable, guessing, type Oracle } from "./guessing.ts";
import { objects } from "./objects.ts";

/** Settings of {@link twentyQuestions}. */
export interface TwentyQuestionsOptions {
  /** Default: 72 everyday things with 34 questions about each. */
  readonly things?: readonly Guessable[];
  /** Default: scripted, by the things' own answers. */
  readonly answerer?: Oracle;
  /** Questions and guesses in all. Default 20. */
  readonly turns?: number;
  /** Which things are trained. Default 1. */
  readonly seed?: number;
}

/**
 * Questions are answered with yes or no; `guess NAME` may end the game. See {@link guessing} for rewards and players.
 * Paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models".
 */
export const twentyQuestions = (options: TwentyQuestionsOptions = {}): Environment =>
  guessing({
    name: "twenty-questions",
    summary: "find a hidden thing by questions that are answered with yes or no, and guess it",
    prompt: "i think of something",
    things: objects,
    ...options,
  });
