/** Tickets of a help desk: a few words say what is broken, most only who wrote it. */
import { type Random, randomStream, shuffled } from "../core/random.ts";
import type { Task, Trajectory } from "../core/types.ts";
import { demand, isWhole } from "./demand.ts";
import { defineEnvironment, type Environment } from "./environment.ts";

/** Settings of {@link tickets}. */
export interface TicketsOptions {
  /** Number of faults, 1 to 200; each is a set of three symptoms with one plan that repairs it. Default 30. */
  readonly faults?: number;
  /** Symptoms that faults are made of, 9 to 40. Default 12. */
  readonly symptoms?: number;
  /** Plans to choose from, 2 to 26. Default 10. */
  readonly plans?: number;
  /** Number of writers, each with twelve words of their own. Default 15. */
  readonly writers?: number;
  /** Number of training tickets; validation and test have a fifth as many each. Default 600. */
  readonly tickets?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The plan that repairs a task's fault. */
export const planOf = (task: Task): string => task.reference ?? "";

/**
 * A ticket is the three symptoms of its fault among ten of its writer's twelve words, shuffled; the reply is a plan, one
 * word, and the right one pays `outcome` 1. Two tickets of one writer share two thirds of their words, usually none of them
 * relevant; two tickets of one fault share a fifth, all of them relevant. All splits have the same faults and different
 * tickets.
 * @throws WhetstoneError `option.range`.
 */
export function tickets(options: TicketsOptions = {}): Environment {
  const { faults = 30, symptoms = 12, plans = 10, writers = 15, tickets = 600, seed = 1 } = options;
  demand(isWhole(faults, 1, 200), "tickets: faults", faults, "a whole number from 1 to 200");
  demand(isWhole(symptoms, 9, 40), "tickets: symptoms", symptoms, "a whole number from 9 to 40");
  demand(isWhole(plans, 2, 26), "tickets: plans", plans, "a whole number from 2 to 26");
  const random = randomStream(seed).split("tickets");
  const words = inventedWords(symptoms + plans + own * writers, random.split("words"));
  const symptomWords = words.slice(0, symptoms);
  const planWords = words.slice(symptoms, symptoms + plans);
  const writerWords = Array.from({ length: writers }, (_, i) =>
    words.slice(symptoms + plans + own * i, symptoms + plans + own * (i + 1)),
  );
  const combinations = shuffled(triples(symptomWords), random.split("faults")).slice(0, faults);
  const known = combinations.map((signs, i) => ({
    signs,
    plan: planWords[random.split("plan", i).below(plans)]!,
  }));

  function taskAt(split: string, index: number): Task {
    const stream = randomStream(seed).split("ticket", split, index);
    const fault = stream.below(faults);
    const writer = stream.below(writers);
    const chatter = shuffled(writerWords[writer]!, stream.split("chatter")).slice(0, own - 2);
    const { signs, plan } = known[fault]!;
    const text = shuffled([...signs, ...chatter], stream.split("order")).join(" ");
    return {
      id: `tickets/${split}/${index}`,
      prompt: [{ role: "user", content: text }],
      reference: plan,
      metadata: { fault, writer },
      seed: stream.seed,
    };
  }
  const counts: Readonly<Record<string, number>> = {
    train: tickets,
    validation: Math.ceil(tickets / 5),
    test: Math.ceil(tickets / 5),
  };
  const outcomeOf = (task: Task, reply: string): number => Number(reply.trim() === planOf(task));

  return defineEnvironment({
    name: "tickets",
    summary: "fix what a ticket of a help desk is about; most of its words only say who wrote it",
    abilities: new Set(["expert", "replay", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(counts),
    limits: { turns: 1, actionTokens: 1 },
    tasks: (split) =>
      Array.from({ length: Object.hasOwn(counts, split) ? counts[split]! : 0 }, (_, i) => taskAt(split, i)),
    vocabulary: () => words,
    expert: planOf,
    start: async (task) => ({
      observe: async () => ({ role: "agent", observation: { messages: [], legal: planWords } }),
      act: async ({ content }) => {
        const outcome = outcomeOf(task, content);
        const success = outcome === 1;
        const end = { kind: "done", reason: success ? "mended" : "still broken", success } as const;
        return { rewards: { outcome }, end };
      },
    }),
    verify: async (task, { turns }: Trajectory) => ({
      outcome: outcomeOf(task, turns.at(-1)?.action.content ?? ""),
    }),
  });
}

/** Words of a writer's own. */
const own = 12;

function triples<T>(of: readonly T[]): (readonly [T, T, T])[] {
  return of.flatMap((a, i) =>
    of.slice(i + 1).flatMap((b, j) => of.slice(i + j + 2).map((c) => [a, b, c] as const)),
  );
}

/** Distinct invented words of three syllables. */
function inventedWords(count: number, random: Random): readonly string[] {
  const syllables = [..."bdfgklmnprstvz"].flatMap((c) => [..."aeiou"].map((v) => c + v));
  const out = new Set<string>();
  while (out.size < count)
    out.add(Array.from({ length: 3 }, () => syllables[random.below(syllables.length)]!).join(""));
  return [...out];
}
