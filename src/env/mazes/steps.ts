/** Step by step, as one in the maze sees it: what lies ahead, to the sides and behind. */
import type { Task } from "../../core/types.ts";
import type { Player } from "../environment.ts";
import { type Direction, directions, distances, stepped, towards, turned } from "../grids.ts";
import { machine, type Rules } from "../machine.ts";
import { crowsMove, type Maze, type MazeShape, mazeOf, shortestMove } from "./levels.ts";

/** Quarter turns clockwise by word. */
const steps: readonly string[] = ["ahead", "right", "back", "left"];
const walls = steps.map((step) => `${step} :`).join(" ");

interface Pose {
  readonly cell: number;
  readonly facing: Direction;
}
interface Walker extends Pose {
  readonly moved: number;
}

const atStart = ({ start }: Maze): Pose => ({ cell: start, facing: "north" });

/** How far along the way the goal is seen. */
const sight = 4;

/** What a walker sees to each side: a wall, a way, a dead end, the goal near by; and where the goal lies. */
function outlook(maze: Maze, { cell, facing }: Pose): string {
  const left = distances(maze, maze.goal);
  const seen = steps.map((step, quarters) => {
    const next = stepped(maze, cell, turned(facing, quarters));
    if (next === undefined) return `${step} : wall`;
    if (left[cell]! <= sight && left[next]! < left[cell]!) return `${step} : near`;
    return `${step} : ${maze.open[next]!.length === 1 ? "end" : "way"}`;
  });
  const goalward = towards(cell, maze.goal, maze.side).map((d) => stepTo(facing, d));
  return `${seen.join(" ")} goal ${goalward.join(" ")}`;
}

const stepTo = (facing: Direction, d: Direction): string =>
  steps[(directions.indexOf(d) - directions.indexOf(facing) + 4) % 4]!;

/** Where a step leads, facing the way it went; undefined for a wall and for what is no step. */
function tread(maze: Maze, { cell, facing }: Pose, action: string): Pose | undefined {
  const quarters = steps.indexOf(action.trim());
  const heading = turned(facing, Math.max(0, quarters));
  const next = quarters < 0 ? undefined : stepped(maze, cell, heading);
  return next === undefined ? undefined : { cell: next, facing: heading };
}

/** After these actions, none of them after the goal; undefined where one of them did not lead on. */
function walked(maze: Maze, actions: readonly string[]): Pose | undefined {
  let pose: Pose | undefined = atStart(maze);
  for (const action of actions) if (pose && pose.cell !== maze.goal) pose = tread(maze, pose, action);
  return pose;
}

function rules(task: Task, most: number): Rules<Walker> {
  const maze = mazeOf(task);
  return {
    see: (walker) => ({
      messages: walker.moved === 0 ? [] : [{ role: "user", content: outlook(maze, walker) }],
      stateKey: `${task.id} at ${walker.cell} facing ${walker.facing}`,
      legal: maze.open[walker.cell]!.map((d) => stepTo(walker.facing, d)),
    }),
    act: (walker, action) => {
      const pose = tread(maze, walker, action);
      if (!pose) {
        const text = steps.includes(action) ? "a wall is there" : "that is no move";
        const end = { kind: "done", reason: text, success: false } as const;
        return { next: walker, rewards: { outcome: 0 }, text, end };
      }
      const next = { ...pose, moved: walker.moved + 1 };
      if (pose.cell === maze.goal)
        return { next, rewards: { outcome: 1 }, end: { kind: "done", reason: "there", success: true } };
      if (next.moved < most) return { next };
      return { next, rewards: { outcome: 0 }, end: { kind: "truncated", limit: "turns", at: most } };
    },
  };
}

/** A player who knows the maze, and where it stands in it. */
const walking =
  (choose: (maze: Maze, cell: number) => Direction): Player =>
  (task, conversation) => {
    const maze = mazeOf(task);
    const said = conversation.flatMap(({ role, content }) => (role === "assistant" ? [content] : []));
    const pose = walked(maze, said) ?? atStart(maze);
    return stepTo(pose.facing, choose(maze, pose.cell));
  };

/** @param longest P of the hardest maze. @param slack moves beyond its P that each may take. */
export const stepShape = (longest: number, slack: number): MazeShape => {
  const limitOf = (task: Task): number => Number(task.metadata.path) + slack;
  return {
    actionTokens: 1,
    turns: longest + slack,
    vocabulary: [steps.join(" "), `${walls} wall way end near goal`, "a wall is there ; that is no move"],
    prompt: (maze) => outlook(maze, atStart(maze)),
    begin: (task, random) =>
      machine<Walker>(rules(task, limitOf(task)), { ...atStart(mazeOf(task)), moved: 0 }, random),
    arrives: (task, actions) => {
      const maze = mazeOf(task);
      return walked(maze, actions.slice(0, limitOf(task)))?.cell === maze.goal;
    },
    expert: walking(shortestMove),
    flawed: walking(crowsMove),
  };
};
