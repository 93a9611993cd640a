/** Machines that show their symptom only after a wrong repair. */
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Settings of {@link faults}. */
export interface FaultsOptions {
  /** Number of training machines; as many others are held out. Default 32. */
  readonly machines?: number;
  /** Kinds of fault, each with its own symptom and its own repair. Default 8. */
  readonly kinds?: number;
  /** Largest constant reward of a machine, independent of the repair; each has its own. Default 0. */
  readonly worth?: number;
  /** Reward added by the right repair. Default 1. */
  readonly gain?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** A task's symptom and the repair that helps. */
export const faultOf = (task: Task): { readonly symptom: string; readonly repair: string } => ({
  symptom: String(task.metadata.symptom),
  repair: String(task.metadata.repair),
});

/**
 * All machines look alike, `machine`, and a repair is one word, `r3`. The right repair is the success. After a wrong one
 * the machine shows its symptom, "symptom s5". The right repair for a symptom must be learnt; it is never shown.
 *
 *     outcome = worth of the machine + gain · [right repair]
 */
export function faults(options: FaultsOptions = {}): Environment {
  const { machines = 32, kinds = 8, worth = 0, gain = 1, seed = 1 } = options;
  const repairs = Array.from({ length: kinds }, (_, i) => `r${i}`);
  const symptoms = Array.from({ length: kinds }, (_, i) => `s${i}`);
  const helps = shuffled(repairs, randomStream(seed).split("which repair helps"));
  return oneReply({
    name: "faults",
    summary: "repair a machine that shows its symptom only after a wrong repair",
    questions: machines,
    length: 1,
    words: [...repairs, ...symptoms, "symptom"],
    seed,
    ask: () => "machine",
    metadata: (machine) => {
      const random = randomStream(seed).split("machine", machine);
      const kind = random.below(kinds);
      return { symptom: symptoms[kind]!, repair: helps[kind]!, worth: worth * random.next() };
    },
    grade: (task, reply) => {
      const { symptom, repair } = faultOf(task);
      const success = reply === repair;
      return {
        rewards: { outcome: Number(task.metadata.worth) + (success ? gain : 0) },
        success,
        ...(!success && { text: `symptom ${symptom}` }),
      };
    },
    expert: (task) => faultOf(task).repair,
  });
}
