/** Questions over the sample tables, made from templates with the query that answers each. */
import { type Random, randomStream, shuffled } from "../../core/random.ts";
import { literal, samples, type TableName } from "./tables.ts";

/** A question, the query that answers it, and one as somebody careless would write it. */
export interface Question {
  readonly asked: string;
  readonly sql: string;
  readonly slip: string;
}

/** What a table is about: its rows in words, what names one, what groups and what measures them. */
interface Subject {
  readonly table: TableName;
  readonly many: string;
  readonly name?: string;
  readonly groups: readonly string[];
  readonly measures: readonly string[];
}

const subjects: readonly Subject[] = [
  {
    table: "cars",
    many: "cars",
    name: "name",
    groups: ["origin", "cylinders", "year"],
    measures: ["mpg", "horsepower", "weight", "acceleration"],
  },
  {
    table: "penguins",
    many: "penguins",
    groups: ["species", "island", "sex"],
    measures: ["beak_length", "beak_depth", "flipper_length", "body_mass"],
  },
  {
    table: "countries",
    many: "countries",
    name: "country",
    groups: ["region"],
    measures: ["income", "life_expectancy", "population"],
  },
];

/** What a template draws from. */
interface Drawn {
  readonly subject: Subject;
  readonly group: string;
  /** A value of the group's column, as SQL writes it. */
  readonly value: string;
  readonly measure: string;
  /** A value that the measure takes. */
  readonly threshold: string;
  /** 2 to 5. */
  readonly few: number;
}

export interface Template {
  readonly name: string;
  /** Whether any of its questions is trained. */
  readonly seen: boolean;
  /** Undefined where the template does not suit the subject. */
  make(drawn: Drawn): Question | undefined;
}

export const templates: readonly Template[] = [
  {
    name: "count",
    seen: true,
    make: ({ subject: { table, many }, group, value }) => ({
      asked: `How many ${many} have the ${group} ${value}?`,
      sql: `SELECT count(*) FROM ${table} WHERE ${group} = ${value}`,
      slip: `SELECT count(${group}) FROM ${table}`,
    }),
  },
  {
    name: "count of two conditions",
    seen: true,
    make: ({ subject: { table, many }, group, value, measure, threshold }) => ({
      asked: `How many ${many} with the ${group} ${value} have a ${measure} of more than ${threshold}?`,
      sql: `SELECT count(*) FROM ${table} WHERE ${group} = ${value} AND ${measure} > ${threshold}`,
      slip: `SELECT count(*) FROM ${table} WHERE ${measure} > ${threshold}`,
    }),
  },
  {
    name: "mean",
    seen: true,
    make: ({ subject: { table, many }, group, value, measure }) => ({
      asked: `What is the mean ${measure} of the ${many} with the ${group} ${value}?`,
      sql: `SELECT avg(${measure}) FROM ${table} WHERE ${group} = ${value}`,
      slip: `SELECT mean(${measure}) FROM ${table} WHERE ${group} = ${value}`,
    }),
  },
  {
    name: "extremes",
    seen: true,
    make: ({ subject: { table, many }, group, value, measure }) => ({
      asked: `What are the smallest and the largest ${measure} among the ${many} with the ${group} ${value}?`,
      sql: `SELECT min(${measure}), max(${measure}) FROM ${table} WHERE ${group} = ${value}`,
      slip: `SELECT max(${measure}) FROM ${table} WHERE ${group} = ${value}`,
    }),
  },
  {
    name: "names",
    seen: true,
    make: ({ subject: { table, many, name }, group, value, few }) =>
      name === undefined
        ? undefined
        : {
            asked: `Which ${many} with the ${group} ${value} come first in alphabetical order? Give ${few} different names.`,
            sql: `SELECT DISTINCT ${name} FROM ${table} WHERE ${group} = ${value} ORDER BY ${name} LIMIT ${few}`,
            slip: `SELECT DISTINCT ${name} FROM ${table} WHERE ${group} = ${value} ORDER BY ${name} DESC LIMIT ${few}`,
          },
  },
  {
    name: "counts by group",
    seen: true,
    make: ({ subject: { table, many }, group, measure, threshold }) => ({
      asked: `How many ${many} with a ${measure} of at least ${threshold} are there for each ${group}? Give the ${group} and the count, and leave out where there are none.`,
      sql: `SELECT ${group}, count(*) FROM ${table} WHERE ${measure} >= ${threshold} GROUP BY ${group}`,
      slip: `SELECT ${group}, count(*) FROM ${table} WHERE ${measure} > ${threshold}`,
    }),
  },
  {
    name: "means by group",
    seen: true,
    make: ({ subject: { table, many }, group, measure, few }) => ({
      asked: `What is the mean ${measure} of the ${many} for each ${group} that has more than ${few * 4} of them? Give the ${group} and the mean.`,
      sql: `SELECT ${group}, avg(${measure}) FROM ${table} GROUP BY ${group} HAVING count(*) > ${few * 4}`,
      slip: `SELECT ${group}, avg(${measure}) FROM ${table} WHERE count(*) > ${few * 4} GROUP BY ${group}`,
    }),
  },
  {
    name: "above the mean",
    seen: false,
    make: ({ subject: { table, many }, group, value, measure }) => ({
      asked: `How many ${many} with the ${group} ${value} have a ${measure} above the mean ${measure} of all ${many}?`,
      sql: `SELECT count(*) FROM ${table} WHERE ${group} = ${value} AND ${measure} > (SELECT avg(${measure}) FROM ${table})`,
      slip: `SELECT count(*) FROM ${table} WHERE ${group} = ${value} AND ${measure} > avg(${measure})`,
    }),
  },
  {
    name: "the top",
    seen: false,
    make: ({ subject: { table, many, name }, measure, group, value, few }) =>
      name === undefined
        ? undefined
        : {
            asked: `Which ${few} ${many} with the ${group} ${value} have the largest ${measure}? Give ${name} and ${measure}; of equals, the first by ${name}.`,
            sql: `SELECT ${name}, ${measure} FROM ${table} WHERE ${group} = ${value} ORDER BY ${measure} DESC, ${name} LIMIT ${few}`,
            slip: `SELECT ${name}, ${measure} FROM ${table} WHERE ${group} = ${value} ORDER BY ${measure}, ${name} LIMIT ${few}`,
          },
  },
];

function drawn(random: Random): Drawn {
  const one = <T>(of: readonly T[]): T => of[random.below(of.length)]!;
  const subject = one(subjects);
  const { columns, rows } = samples.find(({ name }) => name === subject.table)!;
  const places = Object.keys(columns);
  const drawnFrom = (column: string): string => {
    const values = new Set(rows.map((row) => row[places.indexOf(column)] ?? null));
    values.delete(null);
    return literal(one([...values]));
  };
  const [group, measure] = [one(subject.groups), one(subject.measures)];
  return {
    subject,
    group,
    measure,
    value: drawnFrom(group),
    threshold: drawnFrom(measure),
    few: 2 + random.below(4),
  };
}

/** So many different questions of each of these templates, mixed; the same each time. One that has fewer gives those. */
export function questionsOf(
  of: readonly Template[],
  each: number,
): readonly (Question & { template: string })[] {
  const made = of.flatMap((template) => {
    const random = randomStream("sql").split(template.name);
    const found = new Map<string, Question & { template: string }>();
    for (let draws = 0; found.size < each && draws < 10_000; draws++) {
      const question = template.make(drawn(random));
      if (question) found.set(question.asked, { ...question, template: template.name });
    }
    return [...found.values()];
  });
  return shuffled(made, randomStream("sql").split("order"));
}
