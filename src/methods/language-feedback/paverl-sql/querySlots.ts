/** Queries of four choices over small tables of numbers: where part of a table shows what part of a query is right. */

import { cellMatch, type Table } from "../../../common/text/tables.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment } from "../../../env/environment.ts";
import { machine, type Rules } from "../../../env/machine.ts";

/** Settings of {@link querySlots}. */
export interface QuerySlotsOptions {
  /** Tables practised, each with a question of its own; as many others nobody practises. Default 6. */
  readonly tables?: number;
  /** Default 14. */
  readonly rows?: number;
  /** Of numbers 0 to 9, but for the first, which counts the rows. Default 6. */
  readonly columns?: number;
  /** Pay `match` and `runs` beside the outcome. Default false. */
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
  /** The table that a query makes. Undefined where a word is no choice. */
  result(task: Task, query: readonly string[]): Table | undefined;
  /** The table wanted. */
  wanted(task: Task): Table;
}

interface State {
  readonly task: Task;
  readonly said: readonly string[];
}

/**
 * A turn for each choice; then `SELECT c0, FIRST, SECOND FROM table WHERE FILTER > THRESHOLD` is compared with the table
 * wanted. At the end `outcome` is 1 where every wanted cell is reproduced, else 0; where asked for, `match` is their share
 * (`cellMatch`) and `runs` 1 or 0. In words: how many rows came and how many were wanted.
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
    // a question whose answer is no empty table
    const fitting = queries.map(task).filter((t) => wanted(t).rows.length > 0);
    return fitting[stream.below(fitting.length)]!;
  };
  const all = new Map(
    ["train", "test"].map((split) => [split, Array.from({ length: tables }, (_, i) => taskAt(split, i))]),
  );

  const environment = defineEnvironment({
    name: "query-slots",
    summary: "query small tables by four choices; the share of wanted cells is told beside right or wrong",
    abilities: new Set(["fork", "replay", "stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: [...all.keys()],
    limits: { turns: slots.length, actionTokens: 1 },
    lexicon: () => [
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
