/** Guess my city: find out where somebody comes from. */
import type { Environment } from "../environment.ts";
import { countries } from "../facts/world.ts";
import { type Guessable, guessing, type Oracle } from "./guessing.ts";

/** Settings of {@link guessMyCity}. */
export interface GuessMyCityOptions {
  /** Default: scripted, by the facts of the city and its country. */
  readonly answerer?: Oracle;
  /** Questions and guesses in all. Default 20. */
  readonly turns?: number;
  /** Which cities are trained. Default 1. */
  readonly seed?: number;
}

/** Capitals and one further city of each country. */
const cities: readonly Guessable[] = countries.flatMap((country) =>
  [
    { name: country.capital, people: country.capitalPeople, capital: "yes" },
    { name: country.city, people: country.cityPeople, capital: "no" },
  ].map(({ name, people, capital }) => ({
    name,
    answers: {
      "which continent is it on": country.continent,
      "which language do people speak": country.languages[0] ?? "",
      "with what do people pay": country.currencies[0] ?? "",
      "how many people live there": people,
      "is it a capital": capital,
      "with which letter does it begin": name[0] ?? "",
      "in which country is it": "that would be too easy",
    },
  })),
);

/**
 * Open questions about a city of the world, which are answered in a few words; `guess NAME` may end the game. See
 * {@link guessing} for rewards and players.
 * Paper: "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models".
 */
export const guessMyCity = (options: GuessMyCityOptions = {}): Environment =>
  guessing({
    name: "guess-my-city",
    summary: "find out from which city somebody comes, by open questions, and guess it",
    prompt: "guess from which city i come",
    things: cities,
    ...options,
  });
