/** A search over sources of different worth, in which each find is judged before it counts. */
import { type Random, randomStream, shuffled } from "../../../core/random.ts";
import type { Message, Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment, type Episode, type Step } from "../../../env/environment.ts";

/** Settings of {@link judgedSearch}. */
export interface JudgedSearchOptions {
  /** How often each source returns a document that tells the truth. Default 0.8, 0.5, 0.3, 0.1. */
  readonly sources?: readonly number[];
  /** Kinds of questions; which source is which hangs on the topic. Default 4. */
  readonly topics?: number;
  /** Searches in all. Default 4. */
  readonly searches?: number;
  /** What a verdict does: a refused find is forgotten, or kept all the same; or none is asked for. Default "drops". */
  readonly verdicts?: "drops" | "keeps" | "none";
  /** Questions. Default 400. */
  readonly questions?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** A document: whether it tells the truth, and whether it looks like it. */
interface Find {
  readonly right: boolean;
  readonly plain: boolean;
}

/**
 * Asked for a topic and how many searches were made (`topic t1 after 2`), the agent names a source (`s3`) or gives its
 * `answer`. A find looks `plain` or `odd`: nine of ten that are right look plain, and three of ten that are wrong. After
 * `found plain` the agent says `yes` or `no`; what it refuses is forgotten. The answer is what most finds that were kept
 * say: right if the right ones outnumber the wrong ones, by a coin on a tie, by luck (one in ten) without any. It is given
 * after the last search at the latest and pays 1 if right. A verdict's reward `relevance` says whether the find was
 * right; it measures and does not pay. An action that fits nothing ends the episode. All draws hang on the task.
 */
export function judgedSearch(options: JudgedSearchOptions = {}): Environment {
  const { sources = [0.8, 0.5, 0.3, 0.1], topics = 4, searches = 4, questions = 400, seed = 1 } = options;
  const { verdicts = "drops" } = options;
  const names = sources.map((_, i) => `s${i}`);

  function taskAt(index: number): Task {
    const topic = index % topics;
    return {
      id: `judged-search/${index}`,
      prompt: [],
      metadata: {
        topic,
        // worth of each source, in the order of their names
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

  /** What the kept finds answer. */
  function answer(task: Task, kept: readonly Find[]): Step {
    const lead = kept.reduce((sum, { right }) => sum + (right ? 1 : -1), 0);
    const luck = drawn(task, "luck").next() < (kept.length === 0 ? 0.1 : 0.5);
    const success = lead === 0 ? luck : lead > 0;
    return {
      rewards: { outcome: success ? 1 : 0 },
      end: { kind: "done", reason: success ? "right" : "wrong", success },
    };
  }

  function start(
    task: Task,
    from = { kept: [] as readonly Find[], made: 0, judged: undefined as Find | undefined },
  ) {
    let { kept, made, judged } = from;
    const goOn = (step: Step): Step => {
      if (judged || made < searches) return step;
      const last = answer(task, kept);
      return { ...last, rewards: { ...step.rewards, ...last.rewards } };
    };
    const act = (action: string): Step => {
      if (judged && (action === "yes" || action === "no")) {
        const { right } = judged;
        if (action === "yes" || verdicts === "keeps") kept = [...kept, judged];
        judged = undefined;
        return goOn({ rewards: { relevance: right ? 1 : 0 } });
      }
      if (!judged && action === "answer") return answer(task, kept);
      if (judged || !names.includes(action)) {
        return { rewards: { outcome: 0 }, end: { kind: "done", reason: "no such action", success: false } };
      }
      const find = findOf(task, action, made++);
      if (verdicts === "none") kept = [...kept, find];
      else judged = find;
      return goOn({});
    };
    const episode: Episode = {
      observe: async () => ({
        role: "agent",
        observation: { messages: [{ role: "user", content: judged ? seen(judged) : asked(task, made) }] },
      }),
      act: async ({ content }) => act(content.trim()),
      fork: async () => start(task, { kept, made, judged }),
    };
    return episode;
  }

  return defineEnvironment({
    name: "judged-search",
    summary: "search sources of different worth, judge each find, answer by what was kept",
    abilities: new Set(["expert", "fork", "replay"]),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: 2 * searches + 1, actionTokens: 1 },
    lexicon: () => [
      "topic after found plain odd yes no answer",
      ...Array.from({ length: topics }, (_, i) => `t${i}`),
      ...Array.from({ length: searches + 1 }, (_, i) => `${i}`),
      ...names,
    ],
    tasks: (split) => (split === "train" ? Array.from({ length: questions }, (_, i) => taskAt(i)) : []),
    // knows where the truth stands: searches there, and keeps nothing else
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
