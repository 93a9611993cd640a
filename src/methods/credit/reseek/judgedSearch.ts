/** A search over sources of different reliability, in which the agent judges each document before it counts. */
import { type Random, randomStream, shuffled } from "../../../core/random.ts";
import type { Message, Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment, type Episode, type Step } from "../../../env/environment.ts";

/** Settings of {@link judgedSearch}. */
export interface JudgedSearchOptions {
  /** Probability that each source returns a right document. Default 0.8, 0.5, 0.3, 0.1. */
  readonly sources?: readonly number[];
  /** Number of topics; the order of the sources depends on the topic. Default 4. */
  readonly topics?: number;
  /** Searches in all. Default 4. */
  readonly searches?: number;
  /** Effect of a judgement: a refused document is dropped, or kept anyway; or no judgement is requested. Default "drops". */
  readonly judgements?: "drops" | "keeps" | "none";
  /** Questions. Default 400. */
  readonly questions?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** A document: whether it is right, and whether it looks plain. */
interface Find {
  readonly right: boolean;
  readonly plain: boolean;
}

/**
 * The agent sees a topic and the number of searches so far (`topic t1 after 2`), and names a source (`s3`) or gives its
 * `answer`. A document looks `plain` or `odd`: nine of ten right ones look plain, and three of ten wrong ones. After
 * `found plain` the agent says `yes` or `no`; refused documents are dropped. The answer is the majority of the kept
 * documents: right if the right ones outnumber the wrong ones, with probability ½ on a tie and one in ten without any. It
 * is given after the last search at the latest and has reward 1 if right. A judgement's reward `relevance` states whether
 * the document was right; it is a measurement and no part of the return. An invalid action ends the episode. All draws
 * depend only on the task.
 */
export function judgedSearch(options: JudgedSearchOptions = {}): Environment {
  const { sources = [0.8, 0.5, 0.3, 0.1], topics = 4, searches = 4, questions = 400, seed = 1 } = options;
  const { judgements = "drops" } = options;
  const names = sources.map((_, i) => `s${i}`);

  function taskAt(index: number): Task {
    const topic = index % topics;
    return {
      id: `judged-search/${index}`,
      prompt: [],
      metadata: {
        topic,
        // reliability of each source, in the order of their names
        worth: shuffled(sources, randomStream(seed).split("topic", topic)),
      },
      seed: randomStream(seed).split("task", index).seed,
    };
  }

  const drawn = (task: Task, ...what: (string | number)[]): Random => randomStream(task.seed).split(...what);

  function findOf(task: Task, source: string, search: number): Find {
    const [truth, look] = [drawn(task, "truth", source, search), drawn(task, "look", source, search)];
    const right = truth.next() < worthOf(task)[names.indexOf(source)]!;
    return { right, plain: look.next() < (right ? 0.9 : 0.3) };
  }

  /** The answer of the kept documents. */
  function answer(task: Task, kept: readonly Find[]): Step {
    const lead = kept.reduce((sum, { right }) => sum + (right ? 1 : -1), 0);
    const luck = drawn(task, "luck").next() < (kept.length === 0 ? 0.1 : 0.5);
    const success = lead === 0 ? luck : lead > 0;
    return {
      rewards: { outcome: success ? 1 : 0 },
      end: { kind: "done", reason: success ? "right" : "wrong", success },
    };
  }

  function start(task: Task): Episode {
    let kept: readonly Find[] = [];
    let made = 0;
    let judged: Find | undefined;
    const goOn = (step: Step): Step => {
      if (judged || made < searches) return step;
      const last = answer(task, kept);
      return { ...last, rewards: { ...step.rewards, ...last.rewards } };
    };
    const act = (action: string): Step => {
      if (judged && (action === "yes" || action === "no")) {
        const { right } = judged;
        if (action === "yes" || judgements === "keeps") kept = [...kept, judged];
        judged = undefined;
        return goOn({ rewards: { relevance: right ? 1 : 0 } });
      }
      if (!judged && action === "answer") return answer(task, kept);
      if (judged || !names.includes(action)) {
        return { rewards: { outcome: 0 }, end: { kind: "done", reason: "no such action", success: false } };
      }
      const find = findOf(task, action, made++);
      if (judgements === "none") kept = [...kept, find];
      else judged = find;
      return goOn({});
    };
    return {
      observe: async () => ({
        role: "agent",
        observation: { messages: [{ role: "user", content: judged ? seen(judged) : asked(task, made) }] },
      }),
      act: async ({ content }) => act(content.trim()),
    };
  }

  return defineEnvironment({
    name: "judged-search",
    summary: "search sources of different worth, judge each find, answer by what was kept",
    abilities: new Set(["expert", "replay"]),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: 2 * searches + 1, actionTokens: 1 },
    vocabulary: () => [
      "topic after found plain odd yes no answer",
      ...Array.from({ length: topics }, (_, i) => `t${i}`),
      ...Array.from({ length: searches + 1 }, (_, i) => `${i}`),
      ...names,
    ],
    tasks: (split) => (split === "train" ? Array.from({ length: questions }, (_, i) => taskAt(i)) : []),
    // knows which documents are right: searches there, and keeps nothing else
    expert: (task, conversation) => {
      const tries = conversation.filter((m) => m.role === "assistant").map((m) => m.content);
      const made = tries.filter((word) => names.includes(word)).length;
      const best = (search: number): string =>
        names.find((name) => findOf(task, name, search).right) ?? names[0]!;
      if (isFind(conversation.at(-1))) return findOf(task, best(made - 1), made - 1).right ? "yes" : "no";
      return tries.includes("yes") ? "answer" : best(made);
    },
    start: async (task) => start(task),
    async verify(_task: Task, trajectory: Trajectory) {
      return { outcome: trajectory.turns.at(-1)?.rewards.outcome ?? 0 };
    },
  });
}

const worthOf = (task: Task): readonly number[] => task.metadata.worth as readonly number[];
const asked = (task: Task, made: number): string => `topic t${task.metadata.topic} after ${made}`;
const seen = ({ plain }: Find): string => `found ${plain ? "plain" : "odd"}`;
const isFind = (message: Message | undefined): boolean => message?.content.startsWith("found") ?? false;
