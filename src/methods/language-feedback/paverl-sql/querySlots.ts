/** Queries of four choices over small tables of numbers; a partly right table shows which part of a query is right. */

import { cellMatch, type Table } from "../../../common/text/tables.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine, type Rules } from "../../../env/machine.ts";

/** Settings of {@link querySlots}. */
export interface QuerySlotsOptions {
  /** Number of training tables, each with its own question; as many others are held out. Default 6. */
  readonly tables?: number;
  /** Default 14. */
  readonly rows?: number;
  /** Columns of numbers 0 to 9, except the first, which numbers the rows. Default 6. */
  readonly columns?: number;
  /** Emit the rewards `match` and `runs` in addition to the outcome. Default false. */
  readonly partial?: boolean;
  /** Default 1. */
  readonly seed?: number;
}

/** The four choices, in the order in which they are made. */
export const slots = ["filter", "threshold", "first", "second"] as const;
/** What a filtered column has to exceed. */
const thresholds = ["0", "2", "4", "6", "8"];

/** Tables and questions, which can also be looked at from outside. */
export interface QuerySlots extends Environment {
  /** Words that each choice can be. */
  readonly choices: Readonly<Record<(typeof slots)[number], readonly string[]>>;
  /** Every query, as its four words. */
  readonly queries: readonly (readonly string[])[];
  /** What is seen before each choice. */
  view(task: Task, slot: (typeof slots)[number]): string;
  /** The result of a query. Undefined if a word is not a valid choice. */
  result(task: Task, query: readonly string[]): Table | undefined;
  /** The expected table. */
  wanted(task: Task): Table;
}

interface State {
  readonly task: Task;
  readonly said: readonly string[];
}

/**
 * One turn per choice; then the result of `SELECT c0, FIRST, SECOND FROM table WHERE FILTER > THRESHOLD` is compared with
 * the expected table. At the end `outcome` is 1 if every expected cell is matched, else 0; on request, `match` is the
 * share of matched cells (`cellMatch`) and `runs` is 1 or 0. A message gives the number of rows returned and expected.
 */
export function querySlots(options: QuerySlotsOptions = {}): QuerySlots {
  const { tables = 6, rows = 14, columns = 6, partial = false, seed = 1 } = options;
  const names = Array.from({ length: columns }, (_, k) => `c${k}`);
  const choices = { filter: names, threshold: thresholds, first: names, second: names };
  const queries = slots.reduce<readonly (readonly string[])[]>(
    (sofar, slot) => sofar.flatMap((said) => choices[slot].map((word) => [...said, word])),
    [[]],
  );
  const tableOf = (random: Random): Table => ({
    columns: names,
    rows: Array.from({ length: rows }, (_, r) => names.map((_, k) => (k === 0 ? r : random.below(10)))),
  });
  const data = Array.from({ length: 2 * tables }, (_, i) => tableOf(randomStream(seed).split("table", i)));

  const numberOf = (task: Task): number => Number(task.metadata.table);
  function result(task: Task, query: readonly string[]): Table | undefined {
    if (!slots.every((slot, i) => choices[slot].includes(query[i] ?? ""))) return undefined;
    const [filter, first, second] = [query[0], query[2], query[3]].map((name) => names.indexOf(name ?? ""));
    const over = Number(query[1]);
    return {
      columns: ["c0", "first", "second"],
      rows: data[numberOf(task)]!.rows.filter((row) => Number(row[filter!]) > over).map((row) => [
        row[0]!,
        row[first!]!,
        row[second!]!,
      ]),
    };
  }
  const wanted = (task: Task): Table => result(task, task.metadata.query as readonly string[])!;

  function judged(task: Task, query: readonly string[]) {
    const [got, want] = [result(task, query), wanted(task)];
    const match = got ? cellMatch(want, got) : 0;
    return {
      rewards: { outcome: match === 1 ? 1 : 0, ...(partial && { match, runs: got ? 1 : 0 }) },
      text: match === 1 ? "right" : got ? `${got.rows.length} rows for ${want.rows.length}` : "no query",
    };
  }

  const view = (task: Task, slot: string): string => `t${numberOf(task)} ${slot}`;
  const rules: Rules<State> = {
    see: ({ task, said }) => {
      const slot = slots[said.length] ?? "second";
      const content = view(task, slot);
      return { messages: [{ role: "user", content }], stateKey: content, legal: choices[slot] };
    },
    act({ task, said }, action) {
      const next = { task, said: [...said, action] };
      if (next.said.length < slots.length) return { next };
      const { rewards, text } = judged(task, next.said);
      const success = rewards.outcome === 1;
      return { next, rewards, text, end: { kind: "done", reason: success ? "right" : "wrong", success } };
    },
  };

  const taskAt = (split: string, index: number): Task => {
    const table = split === "train" ? index : tables + index;
    const stream = randomStream(seed).split("question", table);
    const task = (query: readonly string[]): Task => ({
      id: `query-slots/${split}/${index}`,
      prompt: [{ role: "user", content: `t${table}` }],
      reference: query.join(" "),
      metadata: { table, query },
      seed: stream.seed,
    });
    // a question with a non-empty answer table
    const fitting = queries.map(task).filter((t) => wanted(t).rows.length > 0);
    return fitting[stream.below(fitting.length)]!;
  };
  const all = new Map(
    ["train", "test"].map((split) => [split, Array.from({ length: tables }, (_, i) => taskAt(split, i))]),
  );

  const environment = defineEnvironment({
    name: "query-slots",
    summary: "query small tables by four choices; the share of wanted cells is told beside right or wrong",
    abilities: new Set(["replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: [...all.keys()],
    limits: { turns: slots.length, actionTokens: 1 },
    vocabulary: () => [
      ...names,
      ...thresholds,
      ...slots,
      ...Array.from({ length: 2 * tables }, (_, i) => `t${i}`),
      ...Array.from({ length: rows + 1 }, (_, n) => String(n)),
      "right no query rows for",
    ],
    tasks: (split) => all.get(split) ?? [],
    start: async (task, random) => machine(rules, { task, said: [] }, random),
    expert: (task, conversation) =>
      (task.metadata.query as readonly string[])[conversation.filter((m) => m.role === "assistant").length] ??
      "",
    async verify(task: Task, { turns }: Trajectory) {
      if (turns.length === 0) return { outcome: 0 };
      return judged(
        task,
        turns.map(({ action }) => action.content.trim()),
      ).rewards;
    },
  });
  return { ...environment, choices, queries, view, result, wanted };
}
