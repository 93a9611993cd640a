import type { Random } from "../core/random.ts";
import type { Data } from "../core/slots.ts";
import { type Id, paid, type Task } from "../core/types.ts";

/** Settings of {@link byProgress}. */
export interface ByProgressOptions {
  /** Training tasks per iteration. Default 8. */
  readonly tasks?: number;
  /** ε, chance that a place is drawn uniformly. Default 0.2. */
  readonly explore?: number;
  /** α, weight of the newest change in a task's progress. Default 0.3. */
  readonly rate?: number;
}

/** By task: its mean reward when it was last played, and its progress. */
type Played = Readonly<Record<Id, { readonly last: number; readonly progress: number }>>;

/** Tasks that were played. */
export interface ProgressState extends Readonly<Record<string, Played>> {
  readonly played: Played;
}

/**
 * Draws m places without repetition: each with chance ε uniformly, else in proportion to the weights. Where all that is left
 * weighs 0, uniformly.
 */
export function drawnByWeight(
  tasks: readonly Task[],
  weight: (task: Task) => number,
  { places, explore }: { readonly places: number; readonly explore: number },
  random: Random,
): Task[] {
  const left = tasks.map((task) => ({ task, weight: weight(task) }));
  const drawn: Task[] = [];
  while (drawn.length < places && left.length > 0) {
    const total = left.reduce((sum, one) => sum + one.weight, 0);
    const isUniform = random.next() < explore || total === 0;
    let rest = random.next() * (isUniform ? left.length : total);
    // rounding may leave a rest: the last task that weighs something gets the place
    let at = isUniform ? left.length - 1 : left.findLastIndex((one) => one.weight > 0);
    for (const [i, one] of left.entries()) {
      rest -= isUniform ? 1 : one.weight;
      if (rest < 0) {
        at = i;
        break;
      }
    }
    drawn.push(...left.splice(at, 1).map(({ task }) => task));
  }
  return drawn;
}

/**
 * A bandit over tasks that is paid by their learning progress: tasks whose reward changes, up or down, are played most.
 *
 *     after an iteration, for each task x that was played:   r = mean reward − last mean reward (0 at first)
 *     Q(x) ← α r + (1 − α) Q(x);   choose in proportion to |Q|, each place with chance ε uniformly
 *
 * A task that was never played weighs as much as the heaviest, so that all are played once before the choice narrows. A reward that
 * falls counts as well: what is being forgotten is played again. Rewards are sums over the episode; replayed attempts do not count.
 * Paper: "Teacher-Student Curriculum Learning", its online algorithm, with the choice in proportion in place of the greedy one.
 */
export function byProgress(options: ByProgressOptions = {}): Data<ProgressState> {
  const { tasks: places = 8, explore = 0.2, rate = 0.3 } = options;
  return {
    name: "by progress",
    init: () => ({ played: {} }),
    async choose({ random }, tasks, state) {
      const weights = Object.values(state.played).map(({ progress }) => Math.abs(progress));
      const heaviest = Math.max(0, ...weights) || 1;
      const weight = ({ id }: Task): number => {
        const played = state.played[id];
        return played ? Math.abs(played.progress) : heaviest;
      };
      return { tasks: drawnByWeight(tasks, weight, { places, explore }, random), next: state };
    },
    async observe(_ctx, { trajectories }, { played }) {
      const attempts = trajectories.filter(
        ({ end, origin }) => end.kind !== "failed" && origin !== "replayed",
      );
      const changed = [...Map.groupBy(attempts, ({ task }) => task)].map(([id, own]) => {
        const now = own.reduce((sum, t) => sum + paid(t), 0) / own.length;
        const { last, progress } = played[id] ?? { last: 0, progress: 0 };
        return [id, { last: now, progress: rate * (now - last) + (1 - rate) * progress }] as const;
      });
      return { played: { ...played, ...Object.fromEntries(changed) } };
    },
  };
}
