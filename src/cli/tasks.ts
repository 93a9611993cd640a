/** `whetstone tasks`: which tasks a run trained on, and where each of them stands. */
import { type Command, Option } from "commander";
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import {
  type Standing,
  type TaskState,
  type TrainedTasks,
  taskOrders,
  trainedTasks,
} from "../diagnose/tasks.ts";
import { curve } from "./chart.ts";
import { statedNumber } from "./numbers.ts";
import { addCommand, folded, type Io, interval, number, paint, percent, roomOf, table } from "./output.ts";
import { existingStore, requireRun, storeOption } from "./runs.ts";

interface TasksOptions {
  readonly store: string;
  readonly order: keyof typeof taskOrders;
  readonly limit: string;
}

export function addTasks(program: Command, io: Io): void {
  addCommand(
    program,
    "tasks",
    "Show which tasks a run trained on: solved, at the frontier, unsolved; and what they taught.",
    [
      "whetstone tasks facts-grpo-1",
      "whetstone tasks facts-grpo-1 --order progress",
      "whetstone tasks runs/mine --limit 1000 --json",
    ],
  )
    .argument("<run>", "the run's id, the beginning of its id, or its folder")
    .option(...storeOption)
    .addOption(
      new Option("--order <what>", "hardest, most progress, last trained on, or trained on most first")
        .choices(Object.keys(taskOrders))
        .default("hardest"),
    )
    .option("--limit <n>", "maximum number of tasks", "20")
    .action(async (name: string, { store: file, order, limit }: TasksOptions) => {
      const most = statedNumber("--limit", limit, 1);
      const store = await existingStore(file);
      try {
        const run = await requireRun(store, name);
        const all = await trainedTasks(store, run.id);
        show(run.name, all, all.tasks.toSorted(taskOrders[order]).slice(0, most), io);
        if (
          order === "progress" &&
          all.tasks.length > 0 &&
          all.tasks.every(({ change }) => Number.isNaN(change))
        )
          io.say(...folded(io, noProgress));
      } finally {
        await store.close();
      }
    });
}

const noProgress =
  "No task has a change yet, so that nothing orders this list: it compares success in a task's last sixteen episodes or more with that in the episodes before them, and no task was played often enough. Train longer, or on fewer tasks.";

const words: Readonly<Record<Standing, string>> = {
  solved: "solved",
  frontier: "at the frontier",
  unsolved: "unsolved",
  new: "new",
  unrated: "without a verdict",
};

function show(
  name: string,
  { tasks, frontier, iterations, width }: TrainedTasks,
  shown: readonly TaskState[],
  io: Io,
): void {
  for (const at of frontier) io.record({ type: "frontier", ...at });
  for (const { shares: _, ...task } of shown) io.record({ type: "task", ...task });
  const last = frontier.at(-1);
  if (!last) {
    io.say(
      `${name} trained on no task that is on record: it has not trained yet, learns from recorded feedback, or was recorded by an earlier version.`,
    );
    return;
  }
  const standing = Object.entries(words).flatMap(([key, said]) => {
    const n = last[key as Standing];
    return n > 0 ? [`${n} ${said}`] : [];
  });
  io.say(
    paint(io, "bold", name),
    `${counted(tasks.length, "task")} in ${counted(iterations, "iteration")}: ${standing.join(", ")}.`,
    "",
    ...(frontier.length > 1
      ? [
          "tasks at the frontier, by iteration",
          ...curve(
            frontier.map((at) => at.frontier),
            roomOf(io),
            4,
          ),
          "",
        ]
      : []),
    ...table(
      ["task", "", "episodes", "success lately", "change", "reward", "dead groups", "last"],
      named(shown).map(([name, task]) => [
        name,
        words[task.standing],
        `${task.episodes}`,
        task.recent.n === 0 ? "–" : interval(task.recent),
        Number.isNaN(task.change) ? "–" : `${task.change >= 0 ? "+" : "−"}${percent(Math.abs(task.change))}`,
        number(task.reward),
        `${task.dead} of ${task.groups}`,
        `${task.last}`,
      ]),
      roomOf(io),
    ),
    "",
    `A group whose episodes all get the same reward is dead: it teaches nothing. ${percent(last.dead)} were, in the last ${width === 1 ? "iteration" : counted(width, "iteration")}.`,
    ...(shown.length < tasks.length ? [`${tasks.length - shown.length} more: --limit ${tasks.length}`] : []),
  );
}

/** Each task by what it asks, and by its id too where another of them reads the same. */
function named(shown: readonly TaskState[]): (readonly [string, TaskState])[] {
  const alike = Map.groupBy(shown, said);
  return shown.map((task) => {
    const words = said(task);
    return [alike.get(words)!.length > 1 ? `${task.task}: ${words}` : words, task];
  });
}

/** What a task asks, with its role where there are several. */
function said({ task, role, asked }: TaskState): string {
  const text = oneLine(asked === "" ? task : asked);
  const short = text.length > 40 ? `${text.slice(0, 39)}…` : text;
  return role === "agent" ? short : `${short} (${role})`;
}
