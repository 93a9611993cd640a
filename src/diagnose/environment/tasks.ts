/** Looks at the tasks of every split: are they there, well-formed, and is what should be held out held out? */
import { z } from "zod";
import { messageOf } from "../../core/errors.ts";
import type { Finding } from "../../core/finding.ts";
import type { Task } from "../../core/types.ts";
import { briefly, messageSchema } from "../../env/contract.ts";
import type { Environment } from "../../env/environment.ts";

export interface SplitTasks {
  readonly name: string;
  readonly tasks: readonly Task[];
  /** How many of them "train" has as well; of "train" itself, all. */
  readonly trained: number;
}

export interface TasksReport {
  /** Splits whose tasks could be read. */
  readonly splits: readonly SplitTasks[];
  readonly findings: readonly Finding[];
}

const taskSchema = z.strictObject({
  id: z.string().min(1),
  prompt: z.array(messageSchema),
  reference: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()),
  seed: z.number(),
});

const error = (problem: string, fix: string): Finding => ({
  check: "tasks",
  severity: "error",
  problem,
  fix,
});
const warning = (problem: string, fix: string): Finding => ({
  check: "splits",
  severity: "warning",
  problem,
  fix,
});

/** A task but for its id: tasks with equal contents are the same task. */
export const contentOf = ({ prompt, reference, metadata, seed }: Task): string =>
  JSON.stringify([prompt, reference, metadata, seed]);

/** Reads the tasks of every split, twice. */
export function inspectTasks(environment: Environment): TasksReport {
  const findings: Finding[] = [];
  const read: { readonly name: string; readonly tasks: readonly Task[] }[] = [];
  for (const name of environment.splits) {
    const found = readSplit(environment, name);
    findings.push(...found.findings);
    if (found.tasks) read.push({ name, tasks: found.tasks });
  }
  if (!environment.splits.includes("train")) {
    findings.push({
      ...error(
        `There is no split "train"; there are: ${environment.splits.join(", ")}.`,
        'Name the training split "train".',
      ),
      check: "splits",
    });
  }
  const train = new Set(read.find(({ name }) => name === "train")?.tasks.map(contentOf));
  const splits = read.map(({ name, tasks }) => ({
    name,
    tasks,
    trained: tasks.filter((task) => train.has(contentOf(task))).length,
  }));
  return { splits, findings: [...findings, ...heldOutFindings(environment, splits)] };
}

function readSplit(
  environment: Environment,
  split: string,
): { readonly tasks?: readonly Task[]; readonly findings: readonly Finding[] } {
  const called = `tasks("${split}")`;
  let tasks: unknown;
  let again: unknown;
  try {
    tasks = environment.tasks(split);
    again = environment.tasks(split);
  } catch (e) {
    return {
      findings: [error(`${called} threw: ${messageOf(e)}`, "Return a list of tasks for every split.")],
    };
  }
  if (!Array.isArray(tasks)) {
    const late = tasks instanceof Promise;
    for (const promise of [tasks, again]) if (promise instanceof Promise) promise.catch(() => undefined);
    const fix = late
      ? "Load tasks before the environment is made, for instance with a top-level await, and return the list."
      : "Return a list of tasks.";
    return { findings: [error(`${called} returns ${briefly(tasks)}, not a list.`, fix)] };
  }
  const listed = tasks as readonly Task[];
  const malformed = malformedTask(called, listed);
  if (malformed) return { findings: [malformed] };
  if (listed.length === 0) {
    const fix = "Give it tasks, or take it out of `splits`.";
    return split === "train"
      ? {
          tasks: listed,
          findings: [{ ...error(`${called} is empty: there is nothing to train on.`, fix), check: "splits" }],
        }
      : { tasks: listed, findings: [warning(`${called} is empty: nothing is measured on it.`, fix)] };
  }
  const findings: Finding[] = [];
  const ids = new Set(listed.map(({ id }) => id));
  if (ids.size < listed.length) {
    const twice = listed.find(({ id }, i) => listed.findIndex((t) => t.id === id) < i)!;
    findings.push(
      error(
        `${called} has ${listed.length} tasks with ${ids.size} different ids; "${twice.id}" comes more than once.`,
        "Give every task an id of its own: attempts at tasks with one id are compared as if they were one task.",
      ),
    );
  }
  if (Array.isArray(again) && !sameTasks(listed, again)) {
    findings.push(
      error(
        `${called} returns other tasks at every call.`,
        "Make the tasks once, or from a fixed seed: a resumed run has to find the same ones.",
      ),
    );
  }
  return { tasks: listed, findings };
}

const sameTasks = (a: readonly Task[], b: readonly Task[]): boolean =>
  a.length === b.length && a.every((task, i) => task.id === b[i]?.id && contentOf(task) === contentOf(b[i]));

function malformedTask(called: string, tasks: readonly unknown[]): Finding | undefined {
  for (const [index, task] of tasks.entries()) {
    const read = taskSchema.safeParse(task);
    const name = `${called}[${index}]`;
    if (!read.success) {
      const issue = read.error.issues[0]!;
      const path = issue.path.join(".");
      const surplus = issue.code === "unrecognized_keys" && path === "";
      return error(
        `${name}${path && `, ${path}`}: ${surplus ? `unknown ${issue.keys.map((k) => `"${k}"`).join(", ")}` : issue.message.replace(/^Invalid (input|option): /, "")}; the task is ${briefly(task)}.`,
        surplus
          ? "Put values of your own into `metadata`, and the gold answer into `reference`."
          : "A task is { id, prompt: [{ role, content }], reference?, metadata, seed }.",
      );
    }
    const strange = notJson(read.data.metadata, "metadata");
    if (strange) {
      return error(
        `${name}, ${strange}: metadata has to be JSON.`,
        "Store plain values: a date as text, a function in the environment's own code.",
      );
    }
  }
  return undefined;
}

/** The first place in a value that JSON cannot hold, and what is there. */
function notJson(value: unknown, path: string, above: readonly object[] = []): string | undefined {
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean")
    return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${path} is ${value}`;
  if (typeof value !== "object") return `${path} is a ${typeof value}`;
  if (above.includes(value)) return `${path} contains itself`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null)
    return `${path} is a ${value.constructor?.name ?? "class instance"}`;
  for (const [key, inner] of Object.entries(value)) {
    const found = notJson(inner, `${path}.${key}`, [...above, value]);
    if (found) return found;
  }
  return undefined;
}

/** Whether success on the other splits says anything about tasks that were never trained on. */
function heldOutFindings({ splits: names }: Environment, splits: readonly SplitTasks[]): Finding[] {
  const findings: Finding[] = [];
  const others = splits.filter(({ name, tasks }) => name !== "train" && tasks.length > 0);
  const train = splits.find(({ name }) => name === "train");
  if (!train) return findings;
  for (const { name, tasks, trained } of others) {
    if (trained === 0) continue;
    const all = trained === tasks.length;
    findings.push(
      warning(
        `${all ? `All ${trained} tasks` : `${trained} of the ${tasks.length} tasks`} of "${name}" are in "train" as well: success on it is ${all ? "" : "in part "}success on tasks that were trained on.`,
        `Return different tasks from tasks("${name}"), and look at the split's name there.`,
      ),
    );
  }
  const heldOut = names.filter((name) => name !== "train" && name !== "validation");
  if (heldOut.length === 0) {
    findings.push(
      warning(
        `No split is held out: there ${names.length === 1 ? "is" : "are"} only ${names.join(" and ")}.`,
        'Keep tasks apart in a split such as "test"; else nothing tells learning from memorising.',
      ),
    );
  }
  return findings;
}
