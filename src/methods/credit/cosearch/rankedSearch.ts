/** Two-hop search with a ranker between the retriever and the agent: two roles that each make their own choice. */
import { type Random, randomStream, shuffled } from "../../../core/random.ts";
import type { Message, Task } from "../../../core/types.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../../../env/environment.ts";

/** Settings of {@link rankedSearch}. */
export interface RankedSearchOptions {
  /** Questions of each split. Default 12. */
  readonly questions?: number;
  /** Queries that a question needs, one after the other. Default 2. */
  readonly hops?: number;
  /** Probability that a phrasing's candidates hold the right document, the best phrasing first. Default 1, 0.6, 0.3. */
  readonly availability?: readonly number[];
  /** Candidates that the retriever finds. Default 6. */
  readonly candidates?: number;
  /**
   * Probability that another candidate contains the answer's words without being the evidence: a ranking is paid for it as for the
   * right document, and whoever reads it is not helped. Default 0.
   */
  readonly decoys?: number;
  /** Probability that the right document looks exact, and that a wrong one does. Default 0.9 and 0.3. */
  readonly exact?: { readonly right: number; readonly wrong: number };
  /** Probability of a right answer if the agent read the right document in every hop. Default 1. */
  readonly reading?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** What the retriever finds for one phrasing. */
interface Found {
  readonly looks: readonly string[];
  /** Place of the right document, −1 where it was not found. */
  readonly right: number;
  /** Place of a document that only contains the answer's words, −1 where there is none. */
  readonly decoy: number;
}

/** Documents that the agent gets to read. */
const shown = 2;
const agent = "agent";
const ranker = "ranker";

const foundOf = (task: Task): readonly (readonly Found[])[] =>
  task.metadata.found as unknown as readonly (readonly Found[])[];

/** Whether any candidate contains the answer's words. */
const holdsAnswer = ({ right, decoy }: Found): boolean => right >= 0 || decoy >= 0;

/** Score of a ranking: the mean of Hit@1 and Hit@2; 0 where no candidate holds the answer's words, −0.2 for no ranking. */
function scoreOf(picks: readonly number[] | undefined, { right, decoy }: Found): number {
  if (!picks) return -0.2;
  const hits = picks.map((pick) => pick === right || pick === decoy);
  return hits[0] ? 1 : hits[1] ? 1 / 2 : 0;
}

/** Two different candidates by their names `c1`, `c2`…; undefined for anything else. */
function picksIn(text: string, candidates: number): readonly number[] | undefined {
  const picks = text
    .trim()
    .split(/\s+/)
    .map((word) => (/^c\d+$/.test(word) ? Number(word.slice(1)) - 1 : -1));
  const good =
    picks.length === shown && new Set(picks).size === shown && picks.every((p) => p >= 0 && p < candidates);
  return good ? picks : undefined;
}

/**
 * In each hop the agent phrases a query (`p0`, `p1`…), the retriever finds candidates, and the ranker, which sees the query
 * and how each candidate looks, names the two that the agent reads. Then the agent answers. Reading is not modelled: the
 * answer is right with probability `reading` if the agent read the right document in every hop, and wrong otherwise. The
 * best phrasing differs by question and hop; the candidates of a phrasing are fixed.
 *
 * Rewards: the agent's `outcome` 1 or 0 at the end; the ranker's `ranking`, the mean of Hit@1 and Hit@2, for every call,
 * named `ranking.unavailable` where no candidate contains the answer's words; −0.2 for what is no ranking.
 */
export function rankedSearch(options: RankedSearchOptions = {}): Environment {
  const { questions = 12, hops = 2, availability = [1, 0.6, 0.3], candidates = 6, seed = 1 } = options;
  const { exact = { right: 0.9, wrong: 0.3 }, reading = 1, decoys = 0 } = options;
  const phrasings = availability.map((_, p) => `p${p}`);
  const splits = ["train", "validation", "test"];
  const names = Array.from({ length: candidates }, (_, c) => `c${c + 1}`);

  function candidatesOf(chance: number, random: Random): Found {
    const right = random.next() < chance ? random.below(candidates) : -1;
    const looks = names.map((_, c) =>
      random.next() < (c === right ? exact.right : exact.wrong) ? "exact" : "plain",
    );
    const chosen = random.split("decoy");
    const other = chosen.next() < decoys ? chosen.below(candidates) : -1;
    return { looks, right, decoy: other === right ? -1 : other };
  }

  function taskAt(split: string, index: number): Task {
    const number = splits.indexOf(split) * questions + index;
    const stream = randomStream(seed).split("question", number);
    const found = Array.from({ length: hops }, (_, hop) =>
      shuffled(availability, stream.split("phrasings", hop)).map((chance, p) => ({
        ...candidatesOf(chance, stream.split("candidates", hop, p)),
      })),
    );
    return {
      id: `ranked-search/${split}/${index}`,
      prompt: [],
      metadata: { question: `q${number}`, found },
      seed: stream.seed,
    };
  }

  interface State {
    readonly hop: number;
    /** Phrasing that waits for a ranking. */
    readonly asked: number | undefined;
    /** Hops in which the agent read the right document. */
    readonly served: number;
    readonly over: boolean;
  }

  function start(task: Task, random: Random): Episode {
    let state: State = { hop: 0, asked: undefined, served: 0, over: false };
    const query = (phrasing: number): string => `${task.metadata.question} hop${state.hop} p${phrasing}`;

    function search(said: string): Step {
      const asked = phrasings.indexOf(said);
      if (asked >= 0) {
        state = { ...state, asked };
        return {};
      }
      state = { ...state, over: true };
      return { rewards: { outcome: 0 }, end: { kind: "done", reason: "no query", success: false } };
    }

    function rank(said: string, asked: number): Step {
      const found = foundOf(task)[state.hop]![asked]!;
      const picks = picksIn(said, candidates);
      const served = (picks ?? [0, 1]).includes(found.right) ? 1 : 0; // without a ranking the retriever's first two are read
      state = { hop: state.hop + 1, asked: undefined, served: state.served + served, over: false };
      return { rewards: { [holdsAnswer(found) ? "ranking" : "ranking.unavailable"]: scoreOf(picks, found) } };
    }

    function answer(said: string): Step {
      state = { ...state, over: true };
      const success = said === "answer" && state.served === hops && random.split("reading").next() < reading;
      return {
        rewards: { outcome: success ? 1 : 0 },
        end: { kind: "done", reason: success ? "right" : "wrong", success },
      };
    }

    return {
      async observe() {
        if (state.asked !== undefined) {
          const { looks } = foundOf(task)[state.hop]![state.asked]!;
          const messages: readonly Message[] = [
            { role: "user", content: query(state.asked) },
            { role: "tool", content: looks.join(" ") },
          ];
          return { role: ranker, observation: { messages, stateKey: query(state.asked) } };
        }
        const content = `${task.metadata.question} ${state.hop < hops ? `hop${state.hop}` : "read"}`;
        const legal = state.hop < hops ? phrasings : ["answer"];
        return {
          role: agent,
          observation: { messages: [{ role: "user", content }], stateKey: content, legal },
        };
      },
      async act({ content }) {
        if (state.over) return alreadyOver;
        const said = content.trim();
        if (state.asked !== undefined) return rank(said, state.asked);
        return state.hop < hops ? search(said) : answer(said);
      },
    };
  }

  return defineEnvironment({
    name: "ranked-search",
    summary: "two hops of search for two roles: the agent phrases queries, a ranker picks what it reads",
    abilities: new Set(["stateKey", "expert"] as const),
    roles: [agent, ranker],
    splits,
    limits: { turns: 2 * hops + 1, actionTokens: shown + 1 },
    vocabulary: () => [
      ...Array.from({ length: splits.length * questions }, (_, q) => `q${q}`),
      ...Array.from({ length: hops }, (_, hop) => `hop${hop}`),
      ...phrasings,
      ...names,
      "exact plain read answer",
    ],
    tasks: (split) =>
      splits.includes(split) ? Array.from({ length: questions }, (_, i) => taskAt(split, i)) : [],
    start: async (task, random) => start(task, random),
    /** Knows where the right documents are; plays both roles. */
    expert: (task, conversation) => {
      const last = conversation.at(-1)!;
      const asked = conversation.findLast((m) => m.role === "user")!.content.split(" ");
      const found = foundOf(task)[Number(asked[1]?.slice("hop".length))];
      if (!found) return "answer";
      if (last.role !== "tool") return `p${found.findIndex(({ right }) => right >= 0)}`;
      const { right } = found[Number(asked[2]?.slice(1))]!;
      return `c${right + 1} c${((right + 1) % candidates) + 1}`;
    },
    /** An answer is drawn once: `verify` repeats the reward. */
    verify: async (_task, trajectory) => ({ outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 }),
  });
}
