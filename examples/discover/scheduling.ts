/**
 * Job-shop scheduling: the instance FT06 of Fisher and Thompson (1963), six jobs on six machines, whose shortest schedule takes 55.
 * A candidate names a job six times each: the next operation of the job that is named begins as early as it can.
 *
 *     npx whetstone discover scheduling.ts
 */
import { defineProblem } from "../../src/discover/index.ts";

/** Of each job, its operations in order: machine and duration. */
export const jobs: readonly (readonly (readonly [machine: number, duration: number])[])[] = [
  [
    [2, 1],
    [0, 3],
    [1, 6],
    [3, 7],
    [5, 3],
    [4, 6],
  ],
  [
    [1, 8],
    [2, 5],
    [4, 10],
    [5, 10],
    [0, 10],
    [3, 4],
  ],
  [
    [2, 5],
    [3, 4],
    [5, 8],
    [0, 9],
    [1, 1],
    [4, 7],
  ],
  [
    [1, 5],
    [0, 5],
    [2, 5],
    [3, 3],
    [4, 8],
    [5, 9],
  ],
  [
    [2, 9],
    [1, 3],
    [4, 5],
    [5, 4],
    [0, 3],
    [3, 1],
  ],
  [
    [1, 3],
    [3, 3],
    [5, 9],
    [0, 10],
    [4, 4],
    [2, 1],
  ],
];
const shortest = 55;

/** When the last operation ends. */
export function makespan(order: readonly number[]): number {
  const done = jobs.map(() => 0);
  const jobFree = jobs.map(() => 0);
  const machineFree = jobs.map(() => 0);
  for (const job of order) {
    const [machine, duration] = jobs[job]![done[job]!]!;
    const end = Math.max(jobFree[job]!, machineFree[machine]!) + duration;
    [jobFree[job], machineFree[machine]] = [end, end];
    done[job]!++;
  }
  return Math.max(...jobFree);
}

const orderOf = (candidate: string): number[] => candidate.trim().split(/\s+/).map(Number);
const length = jobs.length * jobs[0]!.length;

const isOrder = (order: readonly number[]): boolean =>
  order.length === length &&
  jobs.every((own, job) => order.filter((one) => one === job).length === own.length);

export default defineProblem({
  name: "scheduling",
  summary: `An order of ${length} numbers, each job 0 to ${jobs.length - 1} ${jobs[0]!.length} times, separated by spaces. Each number begins the job's next operation as early as job and machine are free. The score is ${shortest} divided by the time at which all jobs are done. Operations of each job as machine:duration: ${jobs.map((own, job) => `job ${job}: ${own.map(([m, d]) => `${m}:${d}`).join(" ")}`).join("; ")}.`,
  // one job after the other
  starts: [jobs.flatMap((own, job) => own.map(() => job)).join(" ")],
  optimum: 1,
  score(candidate) {
    const order = orderOf(candidate);
    return isOrder(order) ? shortest / makespan(order) : undefined;
  },
  moves: {
    // the number at one place goes to another
    of(candidate) {
      const places = orderOf(candidate).map((_, i) => i);
      return places.flatMap((i) => places.filter((j) => j !== i).map((j) => `${i} ${j}`));
    },
    apply(candidate, move) {
      const order = orderOf(candidate);
      const [from, to] = orderOf(move);
      const [job] = order.splice(from!, 1);
      order.splice(to!, 0, job!);
      return order.join(" ");
    },
  },
});
