/** The catalogue of environments. */
import { annotated } from "./annotated.ts";
import { arithmetic } from "./arithmetic.ts";
import { artefact } from "./artefact.ts";
import { bandit, contextualBandit } from "./bandit.ts";
import { carDealer } from "./carDealer/carDealer.ts";
import { chains } from "./chains.ts";
import { chess } from "./chess/chess.ts";
import { chessEndgames } from "./chess/chessEndgames.ts";
import { chores } from "./chores.ts";
import { clarification } from "./clarification.ts";
import { codewords } from "./codewords.ts";
import { combination } from "./combination.ts";
import { controlledMaze } from "./controlledMaze.ts";
import { corridor } from "./corridor.ts";
import { counsel } from "./counsel.ts";
import { countdown } from "./countdown.ts";
import { crossroads } from "./crossroads.ts";
import { documents } from "./documents.ts";
import { doors } from "./doors.ts";
import { entangledInstructions } from "./entangled/entangled.ts";
import type { Environment } from "./environment.ts";
import { errands } from "./errands.ts";
import { facts } from "./facts/facts.ts";
import { faults } from "./faults.ts";
import { feed } from "./feed.ts";
import { followUps } from "./followUps.ts";
import { functions } from "./functions/functions.ts";
import { gridworld } from "./gridworld.ts";
import { guessMyCity } from "./guessing/guessMyCity.ts";
import { twentyQuestions } from "./guessing/twentyQuestions.ts";
import { hearsay } from "./hearsay.ts";
import { inquiry } from "./inquiry.ts";
import { inverses } from "./inverses.ts";
import { jobs } from "./jobs.ts";
import { judgedSearch } from "./judgedSearch.ts";
import { kernels } from "./kernels.ts";
import { keyDoor } from "./keyDoor.ts";
import { keyGrid } from "./keyGrid.ts";
import { lamps } from "./lamps.ts";
import { ledger } from "./ledger.ts";
import { lock } from "./lock.ts";
import { lookups } from "./lookups.ts";
import { maze } from "./maze.ts";
import { pages } from "./pages.ts";
import { planAndCall } from "./planAndCall.ts";
import { preferenceGame } from "./preferenceGame.ts";
import { pursuit } from "./pursuit.ts";
import { queries } from "./queries.ts";
import { rankedSearch } from "./rankedSearch.ts";
import { reactions } from "./reactions.ts";
import { screens } from "./screens.ts";
import { sequences } from "./sequences.ts";
import { shop } from "./shop.ts";
import { sql } from "./sql/sql.ts";
import { tastes } from "./tastes.ts";
import { textMaze } from "./textMaze.ts";
import { textNavigation } from "./textNavigation.ts";
import { thinking } from "./thinking.ts";
import { tickets } from "./tickets.ts";
import { toolCalls } from "./toolCalls.ts";
import { toolChains } from "./toolChains.ts";
import { toolWorld } from "./toolWorld/toolWorld.ts";
import { trajectoryJudge } from "./toolWorld/trajectoryJudge.ts";
import { users } from "./users/users.ts";
import { votes } from "./votes.ts";
import { wishes } from "./wishes.ts";
import { wordle } from "./wordle/wordle.ts";

export { type McpOptions, type McpServer, type McpTask, mcpEnvironment } from "./adapters/mcp.ts";
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
export { type AnnotatedOptions, annotated } from "./annotated.ts";
export { type ArithmeticOptions, arithmetic } from "./arithmetic.ts";
export { type ArtefactOptions, artefact } from "./artefact.ts";
export type { BanditOptions, ContextualBanditOptions, Means } from "./bandit.ts";
export { bandit, contextualBandit, meansOf } from "./bandit.ts";
export type { Buyer } from "./carDealer/buyers.ts";
export { type CarDealerOptions, carDealer } from "./carDealer/carDealer.ts";
export { type ChainsOptions, chains, valuesOf } from "./chains.ts";
export { type ChessOptions, chess } from "./chess/chess.ts";
export { type ChessEndgamesOptions, chessEndgames } from "./chess/chessEndgames.ts";
export type { Opponent } from "./chess/game.ts";
export { type Chores, type ChoresOptions, chores } from "./chores.ts";
export { type ClarificationOptions, clarification } from "./clarification.ts";
export { type CodewordsOptions, codeOf, codewords } from "./codewords.ts";
export { type CombinationOptions, combination, prizeOf } from "./combination.ts";
export { type ConstantMemoryOptions, constantMemory, stateAndAction } from "./constantMemory.ts";
export { type ControlledMazeOptions, controlledMaze } from "./controlledMaze.ts";
export { type CorridorOptions, corridor } from "./corridor.ts";
export { type CounselOptions, counsel, moodAfter } from "./counsel.ts";
export { type CountdownOptions, countdown } from "./countdown.ts";
export { chatAnswerer, chatBuyer, chatOpponent, counterpart } from "./counterparts.ts";
export { critiqueWords, type Part, type Review, templated, wholeAction } from "./critiques.ts";
export { type CritiquingOptions, critiquing } from "./critiquing.ts";
export { type CrossroadsOptions, crossroads, roads, waysOf } from "./crossroads.ts";
export { type DocumentsOptions, documents, neededBy } from "./documents.ts";
export { type DoorsOptions, doors } from "./doors.ts";
export { type EntangledOptions, entangledInstructions } from "./entangled/entangled.ts";
export { type ConversationScores, conversationScores } from "./entangled/scores.ts";
export type * from "./environment.ts";
export { defineEnvironment } from "./environment.ts";
export { type ErrandsOptions, errands } from "./errands.ts";
export { explained } from "./explained.ts";
export { facts } from "./facts/facts.ts";
export type { Gap } from "./facts/gaps.ts";
export { gapOf, gaps } from "./facts/gaps.ts";
export { type FaultsOptions, faultOf, faults } from "./faults.ts";
export { type FeedOptions, feed } from "./feed.ts";
export { type FollowUpsOptions, followUps } from "./followUps.ts";
export { type FunctionsOptions, functions } from "./functions/functions.ts";
export { type Gridworld, type GridworldOptions, gridMoves, gridworld } from "./gridworld.ts";
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
export { type HearsayOptions, hearsay } from "./hearsay.ts";
export { bounds, boundsLexicon, type HiddenNumberOptions, hiddenNumber } from "./hiddenNumber.ts";
export type { Asked, ExperienceModel, Imagined, ImaginedOptions, Transition } from "./imagined.ts";
export { byAnalogy, carriedOver, imagined, samePlaces, transitionsOf } from "./imagined.ts";
export { fits, type InquiryOptions, inquiry } from "./inquiry.ts";
export { type InversesOptions, inverseOf, inverses } from "./inverses.ts";
export { type JobsOptions, jobs, type Program } from "./jobs.ts";
export { type JudgedSearchOptions, judgedSearch } from "./judgedSearch.ts";
export { fastOf, type KernelsOptions, kernels } from "./kernels.ts";
export { type KeyDoorOptions, keyDoor, rightAction } from "./keyDoor.ts";
export { type KeyGridOptions, keyGrid } from "./keyGrid.ts";
export { type LampsOptions, lamps } from "./lamps.ts";
export { type LedgerOptions, ledger, valuesAsked } from "./ledger.ts";
export { firstWrong, type LockOptions, lock, settingsOf } from "./lock.ts";
export { type LoggedPromptsOptions, loggedPrompts } from "./loggedPrompts.ts";
export { hopsOf, type LookupsOptions, lookups, spelling } from "./lookups.ts";
export { maze } from "./maze.ts";
export { type MazeLevel, waysFrom } from "./mazes/levels.ts";
export { mistaught } from "./mistaught.ts";
export { type PagesOptions, pages } from "./pages.ts";
export { type PlanAndCallOptions, planAndCall, syntaxOf } from "./planAndCall.ts";
export type { PreferenceGameOptions, Preferences } from "./preferenceGame.ts";
export { preferenceGame, preferencesOf } from "./preferenceGame.ts";
export { pursuit, pursuitFacts, pursuitSkills } from "./pursuit.ts";
export { type QueriesOptions, queries } from "./queries.ts";
export { type QuerySlots, type QuerySlotsOptions, querySlots } from "./querySlots.ts";
export { type RankedSearchOptions, rankedSearch } from "./rankedSearch.ts";
export { type ReactionsOptions, reactions } from "./reactions.ts";
export { type RecentHistoryOptions, recentHistory } from "./recentHistory.ts";
export { type ScreensOptions, screens } from "./screens.ts";
export { type SecondThoughtsOptions, secondThoughts } from "./secondThoughts.ts";
export { isHard, type Pay, type Sequences, type SequencesOptions, sequences } from "./sequences.ts";
export {
  beliefAfter,
  bought,
  buyingChance,
  ratingAtOnce,
  type ShopOptions,
  shop,
  shopReplies,
  shopWorld,
  worthOf,
} from "./shop.ts";
export { type SqlQuestionsOptions, sql } from "./sql/sql.ts";
export { type TastesOptions, tastes } from "./tastes.ts";
export { type TextMazeOptions, textMaze } from "./textMaze.ts";
export { type TextNavigationOptions, textNavigation } from "./textNavigation.ts";
export { rightAnswer, type ThinkingOptions, thinking } from "./thinking.ts";
export { planOf, type TicketsOptions, tickets } from "./tickets.ts";
export { type ToolCallsOptions, toolCalls } from "./toolCalls.ts";
export { chainWords, type ToolChainsOptions, toolChains } from "./toolChains.ts";
export { type PairOptions, trajectoryPairs } from "./toolWorld/pairs.ts";
export { type ToolWorldOptions, toolWorld } from "./toolWorld/toolWorld.ts";
export {
  type TrajectoryJudge,
  type TrajectoryJudgeOptions,
  trajectoryJudge,
} from "./toolWorld/trajectoryJudge.ts";
export { type Lesson, type Teacher, type TryAgainOptions, tryAgain } from "./tryAgain.ts";
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
export { type VotesOptions, votes } from "./votes.ts";
export { scopeOf, signatures, type WishesOptions, type WishScope, wish, wishes } from "./wishes.ts";
export { type WordleOptions, wordle } from "./wordle/wordle.ts";
export { type WordyOptions, wordy } from "./wordy.ts";

export interface EnvironmentEntry {
  readonly name: string;
  /** One line for lists. */
  readonly summary: string;
  make(): Environment;
}

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
    name: "preference-game",
    summary: "reply with one word; replies are compared in pairs, and preferences may run in circles",
    make: () => preferenceGame(),
  },
  {
    name: "reactions",
    summary: "reply right, clear and sweet: users love all three, but sweetness does them harm",
    make: () => reactions(),
  },
  {
    name: "follow-ups",
    summary: "answer with one word; what the asker says to it mostly shows whether it was right",
    make: () => followUps(),
  },
  {
    name: "tastes",
    summary: "choose a thing for users of different tastes, of whom a few comparisons are known",
    make: () => tastes(),
  },
  {
    name: "tickets",
    summary: "mend what a ticket of a help desk is about; most of its words only say who wrote it",
    make: () => tickets(),
  },
  {
    name: "ledger",
    summary: "turn the pages, each with one value among chatter, and list all the values at the end",
    make: () => ledger(),
  },
  {
    name: "feed",
    summary: "choose clips that are watched long and still liked; the ones watched longest are not",
    make: () => feed(),
  },
  {
    name: "chores",
    summary: "choose the right command in each situation; somebody who watches corrects a wrong one at times",
    make: () => chores(),
  },
  {
    name: "annotated",
    summary: "answer with one word; an annotator showed one answer of each question, not always a good one",
    make: () => annotated(),
  },
  { name: "bandit", summary: "pull one of two arms; one pays more often", make: () => bandit() },
  {
    name: "contextual-bandit",
    summary: "open one of three doors; which one pays depends on the colour",
    make: () => contextualBandit(),
  },
  {
    name: "errands",
    summary: "run errands of several steps, saying a plan and an action each turn; only the end is paid",
    make: () => errands(),
  },
  {
    name: "ranked-search",
    summary: "two hops of search for two roles: the agent phrases queries, a ranker picks what it reads",
    make: () => rankedSearch(),
  },
  {
    name: "chains",
    summary: "chained arithmetic modulo ten, one step a turn; every step can be checked",
    make: () => chains(),
  },
  {
    name: "inquiry",
    summary: "ask the right queries in order to find a hidden answer",
    make: () => inquiry(),
  },
  {
    name: "inverses",
    summary: "say the inverse of a number modulo a prime; what was read is shown, and is answered once more",
    make: () => inverses(),
  },
  {
    name: "lock",
    summary: "set the wheels of a lock one by one; only the last one shows whether it opens",
    make: () => lock(),
  },
  {
    name: "screens",
    summary: "find a screen of an app by its icons, going back where one led astray",
    make: () => screens(),
  },
  {
    name: "sequences",
    summary: "write a few words; which sequences pay depends on the question",
    make: () => sequences(),
  },
  {
    name: "codewords",
    summary: "write a code of a few words; each place has one right word",
    make: () => codewords(),
  },
  {
    name: "faults",
    summary: "repair a machine that shows its symptom only after a wrong repair",
    make: () => faults(),
  },
  {
    name: "crossroads",
    summary:
      "take one of two roads; the way along one is always the same, along the other nobody can know it",
    make: () => crossroads(),
  },
  {
    name: "documents",
    summary: "read the documents that a job needs, then make its call once",
    make: () => documents(),
  },
  {
    name: "tool-calls",
    summary: "make the few exact tool calls that a job needs, then close it",
    make: () => toolCalls(),
  },
  {
    name: "judged-search",
    summary: "search sources of different worth, judge each find, answer by what was kept",
    make: () => judgedSearch(),
  },
  {
    name: "pages",
    summary: "find the page with the form on a small web site, fill it, and submit it on another page",
    make: () => pages(),
  },
  {
    name: "plan-and-call",
    summary: "plan, then call the right operation in well-formed words; malformed calls may be tried again",
    make: () => planAndCall(),
  },
  {
    name: "combination",
    summary: "three moves in a row: a small sure prize, or a large one for the right combination",
    make: () => combination(),
  },
  {
    name: "pursuit",
    summary: "catch a thief in two rooms with skills that go on for turns; what failed says what it lacked",
    make: () => pursuit(),
  },
  {
    name: "gridworld",
    summary: "walk to the goal of a small grid; two walks are compared by how much they gave away",
    make: () => gridworld(),
  },
  {
    name: "lookups",
    summary: "two look-ups in a row, the one in between thought aloud in one of several spellings",
    make: () => lookups(),
  },
  {
    name: "corridor",
    summary: "get through a long corridor; the right action depends on the cell and the action before",
    make: () => corridor(),
  },
  {
    name: "doors",
    summary: "walk a corridor to its end, past doors that pay a little at once",
    make: () => doors(),
  },
  {
    name: "kernels",
    summary: "write an operation faster than the library does; a library call is right and useless",
    make: () => kernels(),
  },
  {
    name: "users",
    summary: "advise people who like flattery and regret it; one reply, judged by what it is truly worth",
    make: () => users(),
  },
  {
    name: "votes",
    summary: "ask unreliable witnesses one by one, and answer when enough of them agree",
    make: () => votes(),
  },
  {
    name: "hearsay",
    summary: "answer by memory or by what a tool says, of which one is right more often",
    make: () => hearsay(),
  },
  {
    name: "shop",
    summary: "tell customers whether an article has what they need; they rate at once and find out later",
    make: () => shop(),
  },
  {
    name: "clarification",
    summary: "make a call for a user who left things out: ask what matters and is open, then submit",
    make: () => clarification(),
  },
  {
    name: "wishes",
    summary: "sign mails as ever, but for those that the user's wish speaks of",
    make: () => wishes(),
  },
  {
    name: "counsel",
    summary: "lift somebody's mood in a talk; advice helps after a question, and a judge scores each reply",
    make: () => counsel(),
  },
  {
    name: "thinking",
    summary: "answer at once or after a step of thought, which pays a little by itself",
    make: () => thinking(),
  },
  {
    name: "artefact",
    summary: "improve an artefact by edits that may harm it, and stop in time",
    make: () => artefact({ edits: 40 }),
  },
  {
    name: "jobs",
    summary: "run one of two programs; the better one takes ten times as long",
    make: () => jobs(),
  },
  {
    name: "key-door",
    summary: "fetch the key at one end of a corridor and open the door at the other",
    make: () => keyDoor(),
  },
  {
    name: "key-grid",
    summary: "fetch the key in a small grid with walls, then go to the door",
    make: () => keyGrid(),
  },
  {
    name: "lamps",
    summary: "choose ways past lamps and posts; how many there were is only told at the end",
    make: () => lamps(),
  },
  {
    name: "queries",
    summary: "search a few times, then answer; a judge of single queries can be fooled by wordy ones",
    make: () => queries(),
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
    make: () => trajectoryJudge(),
  },
];
