/** Questions over real tables, answered with a query that is run: errors and wrong tables come back in words. */

import { cellMatch, equalTables, type Table } from "../../common/text/tables.ts";
import type { Json } from "../../core/json.ts";
import { randomStream } from "../../core/random.ts";
import type { Task } from "../../core/types.ts";
import { inWords } from "../../sandbox/outcome.ts";
import { type SqlOutcome, type SqlSandbox, sqlSandbox } from "../../sandbox/sql.ts";
import type { Environment } from "../environment.ts";
import { codeIn } from "../fenced.ts";
import { slipping, type Tried, tried } from "../tries.ts";
import { questionsOf, templates } from "./questions.ts";
import { schema, setup } from "./tables.ts";

/** Settings of {@link sql}. */
export interface SqlQuestionsOptions {
  /** Queries until the episode is over. Default 4. */
  readonly turns?: number;
  /** Pay `match` and `runs` as well. Default false. */
  readonly partial?: boolean;
}

/** One for all episodes of this process, begun with the first query. */
let shared: SqlSandbox | undefined;
const run = (query: string): Promise<SqlOutcome> => (shared ??= sqlSandbox({ setup })).run(query);
/** What the right queries come to, by their text. */
const wanted = new Map<string, Promise<SqlOutcome>>();

async function grade(task: Task, reply: string): Promise<Tried> {
  const gold = task.reference ?? "";
  const right = wanted.get(gold) ?? run(gold);
  wanted.set(gold, right);
  const [got, want] = await Promise.all([run(codeIn(reply)), right]);
  if (got.kind !== "ok") return { rewards: { outcome: 0, match: 0, runs: 0 }, text: inWords(got) };
  if (want.kind !== "ok") throw new Error(`${task.id}: ${inWords(want)}`);
  const outcome = equalTables(want, got) ? 1 : 0;
  return {
    rewards: { outcome, match: cellMatch(want, got), runs: 1 },
    text: outcome === 1 ? "right" : `not the table that was asked for: ${described(got, want)}`,
  };
}

/** What is wrong with a table's size, or else its beginning. */
function described(got: Table, want: Table): string {
  const size = ({ rows, columns }: Table): string => `${rows.length} × ${columns.length}`;
  const differs = got.rows.length !== want.rows.length || got.columns.length !== want.columns.length;
  const first = got.rows[0] ? `, beginning ${JSON.stringify(got.rows[0]).slice(0, 200)}` : "";
  return differs
    ? `${size(got)} (rows × columns) instead of ${size(want)}${first}`
    : `${size(got)} as it should be, but other values${first}`;
}

const instructions = `Answer with one SELECT statement for SQLite. The columns come in the order asked for. Tables:\n${schema}`;

function tasksOf(split: string): readonly Task[] {
  const [seen, unseen] = [templates.filter((t) => t.seen), templates.filter((t) => !t.seen)];
  const questions =
    split === "unseen-questions"
      ? questionsOf(unseen, 30)
      : Object.hasOwn(parts, split)
        ? questionsOf(seen, 30)
        : [];
  const [from, to] = parts[split] ?? [0, questions.length];
  return questions.slice(from, to).map(({ asked, sql, slip, template }, index) => ({
    id: `sql/${split}/${index}`,
    prompt: [
      { role: "system", content: instructions },
      { role: "user", content: asked },
    ],
    reference: sql,
    metadata: { slip, template } satisfies Record<string, Json>,
    seed: randomStream("sql").split(split, index).seed,
  }));
}

/** Of the 210 questions of the trained templates. */
const parts: Readonly<Record<string, readonly [from: number, to: number]>> = {
  train: [0, 130],
  validation: [130, 160],
  test: [160, 210],
};

/**
 * Each turn is a query; the first right one ends the episode, and after others the runtime's own error, or how the table
 * differs, is what is seen next (after the last turn it is the step's text).
 *
 * Rewards: `outcome` 1 where the table is the one wanted (rows in any order, columns in theirs, numbers to three places),
 * at the end; where asked for, every turn `runs` 1 or 0 and `match`, the share of the wanted cells reproduced (`cellMatch`). Questions are
 * made from templates; two of these are only in the split "unseen-questions". The flawed player is careless in three of
 * five tasks. No vocabulary: a query is free text, for models with a tokenizer of their own, or of bytes.
 */
export function sql(options: SqlQuestionsOptions = {}): Environment {
  const { turns = 4, partial = false } = options;
  return tried({
    name: "sql",
    summary: "answer questions over real tables with SQL that is run; errors come back in words",
    splits: [...Object.keys(parts), "unseen-questions"],
    turns,
    actionTokens: 200,
    tasks: tasksOf,
    grade,
    partial,
    flawed: slipping,
  });
}
