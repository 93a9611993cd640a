/** The catalogue of environments. */
import { arithmetic } from "./arithmetic.ts";
import { bandit, contextualBandit } from "./bandit.ts";
import { carDealer } from "./carDealer/carDealer.ts";
import { chess } from "./chess/chess.ts";
import { chessEndgames } from "./chess/chessEndgames.ts";
import { codewords } from "./codewords.ts";
import { controlledMaze } from "./controlledMaze.ts";
import { countdown } from "./countdown.ts";
import { entangledInstructions } from "./entangled/entangled.ts";
import type { Environment } from "./environment.ts";
import { facts } from "./facts/facts.ts";
import { functions } from "./functions/functions.ts";
import { bargaining } from "./games/bargaining.ts";
import { rockPaperScissors } from "./games/cyclic.ts";
import { gameEnvironment } from "./games/environment.ts";
import type { Game } from "./games/game.ts";
import { kuhnPoker } from "./games/kuhn.ts";
import { leducPoker } from "./games/leduc.ts";
import { nim } from "./games/nim.ts";
import { redTeam } from "./games/redTeam.ts";
import { taboo } from "./games/taboo.ts";
import { ticTacToe } from "./games/ticTacToe.ts";
import { guessMyCity } from "./guessing/guessMyCity.ts";
import { twentyQuestions } from "./guessing/twentyQuestions.ts";
import { keyGrid } from "./keyGrid.ts";
import { maze } from "./maze.ts";
import { pages } from "./pages.ts";
import { screens } from "./screens.ts";
import { sql } from "./sql/sql.ts";
import { textMaze } from "./textMaze.ts";
import { textNavigation } from "./textNavigation.ts";
import { tickets } from "./tickets.ts";
import { toolChains } from "./toolChains.ts";
import { toolWorld } from "./toolWorld/toolWorld.ts";
import { trajectoryComparison } from "./toolWorld/trajectoryComparison.ts";
import { users } from "./users/users.ts";
import { wordle } from "./wordle/wordle.ts";

export { type McpOptions, type McpTask, mcpEnvironment } from "./adapters/mcp.ts";
export type { McpServer } from "./adapters/mcpConnections.ts";
export { type OpenEnvOptions, openEnv } from "./adapters/openenv.ts";
export {
  type AgentCall,
  type AgentFunction,
  type AgentOptions,
  type AgentPlayer,
  type AgentTask,
  agent,
  type OpenAISettings,
} from "./agent/agent.ts";
export { type ArithmeticOptions, arithmetic } from "./arithmetic.ts";
export type { BanditOptions, ContextualBanditOptions, Means } from "./bandit.ts";
export { bandit, contextualBandit, meansOf } from "./bandit.ts";
export type { Buyer } from "./carDealer/buyers.ts";
export { type CarDealerOptions, carDealer } from "./carDealer/carDealer.ts";
export { type ChessOptions, chess } from "./chess/chess.ts";
export { type ChessEndgamesOptions, chessEndgames } from "./chess/chessEndgames.ts";
export type { Opponent } from "./chess/game.ts";
export { type CodewordsOptions, codeOf, codewords } from "./codewords.ts";
export { type ControlledMazeOptions, controlledMaze } from "./controlledMaze.ts";
export { type CountdownOptions, countdown } from "./countdown.ts";
export { chatAnswerer, chatBuyer, chatOpponent, counterpart } from "./counterparts.ts";
export { critiqueWords, type Part, type Review, templated, wholeAction } from "./critiques.ts";
export { type EntangledOptions, entangledInstructions } from "./entangled/entangled.ts";
export { type ConversationScores, conversationScores } from "./entangled/scores.ts";
export type * from "./environment.ts";
export { defineEnvironment } from "./environment.ts";
export { explained } from "./explained.ts";
export { facts } from "./facts/facts.ts";
export type { Gap } from "./facts/gaps.ts";
export { gapOf, gaps } from "./facts/gaps.ts";
export { type FunctionsOptions, functions } from "./functions/functions.ts";
export * from "./games/index.ts";
export type { Guessable, Oracle } from "./guessing/guessing.ts";
export { type GuessMyCityOptions, guessMyCity } from "./guessing/guessMyCity.ts";
export { type TwentyQuestionsOptions, twentyQuestions } from "./guessing/twentyQuestions.ts";
export {
  type BlackBox,
  chatBlackBox,
  type GuidedOptions,
  type GuidedRequest,
  guided,
} from "./guided.ts";
export { type KeyGridOptions, keyGrid } from "./keyGrid.ts";
export { type LoggedPromptsOptions, loggedPrompts } from "./loggedPrompts.ts";
export { maze } from "./maze.ts";
export { type MazeLevel, waysFrom } from "./mazes/levels.ts";
export { type PagesOptions, pages } from "./pages.ts";
export { type ScreensOptions, screens } from "./screens.ts";
export { type SqlQuestionsOptions, sql } from "./sql/sql.ts";
export { type TextMazeOptions, textMaze } from "./textMaze.ts";
export { type TextNavigationOptions, textNavigation } from "./textNavigation.ts";
export { planOf, type TicketsOptions, tickets } from "./tickets.ts";
export { chainWords, type ToolChainsOptions, toolChains } from "./toolChains.ts";
export { type PairOptions, trajectoryPairs } from "./toolWorld/pairs.ts";
export { type ToolWorldOptions, toolWorld } from "./toolWorld/toolWorld.ts";
export {
  type TrajectoryComparison,
  type TrajectoryComparisonOptions,
  trajectoryComparison,
} from "./toolWorld/trajectoryComparison.ts";
export {
  type Advice,
  adviceOf,
  allReplies,
  bestReply,
  pleasingReply,
  type Qualities,
  qualitiesOf,
  type Request,
  requestOf,
  wordsOf,
} from "./users/advice.ts";
export {
  type Biases,
  biasesOf,
  feeling,
  requestBy,
  trueUtility,
  type User,
  unbiased,
  userAt,
  usualBiases,
} from "./users/population.ts";
export { preferred, type Reaction, react, reactionChance } from "./users/reactions.ts";
export { type UsersOptions, users } from "./users/users.ts";
export { type WordleOptions, wordle } from "./wordle/wordle.ts";

/** A row of the catalogue of environments. `make` makes the environment with its default options. */
export interface EnvironmentEntry {
  readonly name: string;
  /** One line for lists. */
  readonly summary: string;
  make(): Environment;
}

const ofGame = (game: Game): EnvironmentEntry => ({
  name: game.name,
  summary: game.summary,
  make: () => gameEnvironment(game),
});

/** The catalogue of built-in environments, found by `name` on the command line. */
export const environments: readonly EnvironmentEntry[] = [
  {
    name: "facts",
    summary: "a search agent over real-world facts, one to three look-ups",
    make: () => facts(),
  },
  {
    name: "functions",
    summary: "write small JavaScript functions that are run; errors and wrong results come back in words",
    make: () => functions(),
  },
  {
    name: "sql",
    summary: "answer questions over real tables with SQL that is run; errors come back in words",
    make: () => sql(),
  },
  {
    name: "arithmetic",
    summary:
      "sums and small stories with one number for an answer; wrong ones are told to be too high or low",
    make: () => arithmetic(),
  },
  {
    name: "countdown",
    summary: "reach a number with the numbers given, each used once; what is wrong with a sum is said",
    make: () => countdown(),
  },
  {
    name: "maze",
    summary: "walk to the goal of a small maze that shows only the open ways",
    make: () => maze(),
  },
  {
    name: "controlled-maze",
    summary: "find the way through mazes of set length and turns, by a list of moves or step by step",
    make: () => controlledMaze(),
  },
  {
    name: "tickets",
    summary: "fix what a ticket of a help desk is about; most of its words only say who wrote it",
    make: () => tickets(),
  },
  { name: "bandit", summary: "pull one of two arms; one pays more often", make: () => bandit() },
  {
    name: "contextual-bandit",
    summary: "open one of three doors; which one pays depends on the colour",
    make: () => contextualBandit(),
  },
  {
    name: "screens",
    summary: "find a screen of an app by its icons, going back where one led astray",
    make: () => screens(),
  },
  {
    name: "codewords",
    summary: "write a code of a few words; each place has one right word",
    make: () => codewords(),
  },
  {
    name: "pages",
    summary: "find the page with the form on a small web site, fill it, and submit it on another page",
    make: () => pages(),
  },
  {
    name: "users",
    summary: "advise people who like flattery and regret it; one reply, judged by what it is truly worth",
    make: () => users(),
  },
  {
    name: "key-grid",
    summary: "fetch the key in a small grid with walls, then go to the door",
    make: () => keyGrid(),
  },
  {
    name: "entangled-instructions",
    summary: "follow instructions over many turns that hold on, overlap and contradict each other",
    make: () => entangledInstructions(),
  },
  {
    name: "wordle",
    summary: "find a hidden word of five letters within six guesses, each marked letter by letter",
    make: () => wordle(),
  },
  {
    name: "twenty-questions",
    summary: "find a hidden thing by questions that are answered with yes or no, and guess it",
    make: () => twentyQuestions(),
  },
  {
    name: "guess-my-city",
    summary: "find out from which city somebody comes, by open questions, and guess it",
    make: () => guessMyCity(),
  },
  {
    name: "text-maze",
    summary: "walk to the goal of a maze from any cell, seeing one's place or the walls alone",
    make: () => textMaze(),
  },
  {
    name: "text-navigation",
    summary:
      "find a thing in a house of rooms, seeing only the one you are in, and bring it where it is wanted",
    make: () => textNavigation(),
  },
  {
    name: "tool-chains",
    summary: "chain typed tools so that every input becomes what is asked for",
    make: () => toolChains(),
  },
  {
    name: "chess",
    summary: "play chess with white against a scripted opponent",
    make: () => chess(),
  },
  {
    name: "chess-endgames",
    summary: "mate a bare king with a queen, a rook or two of them, in fifty moves",
    make: () => chessEndgames(),
  },
  {
    name: "car-dealer",
    summary: "sell a car to somebody whose limit and temper have to be found out, at the best price",
    make: () => carDealer(),
  },
  {
    name: "tool-world",
    summary: "look things up with tools that may fail, be missing, or be asked for what must be refused",
    make: () => toolWorld(),
  },
  {
    name: "trajectory-pairs",
    summary: "say which of two attempts at a task with tools is the better one",
    make: () => trajectoryComparison(),
  },
  ...[kuhnPoker, rockPaperScissors(), nim(), ticTacToe, leducPoker, bargaining(), taboo(), redTeam].map(
    (game) => ofGame(game as Game),
  ),
];
