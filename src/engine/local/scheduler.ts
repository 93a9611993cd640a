/**
 * In which order the engine thread answers. Sampling goes on in steps, for all models in turn, and between two steps
 * messages are taken in: more requests join, other calls are answered. What changes the weights of a model waits until
 * it samples no more, and whatever is asked of that model later waits behind it.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Handle, Request } from "./protocol.ts";
import type { Sampler } from "./sampler.ts";

export interface SchedulerParts {
  /** Answers a call. One to sample joins the model's sampler among `sampling`, and is answered when that is done with it. */
  answer(request: Request): Promise<void>;
  /** Samplers of models that have requests open. */
  readonly sampling: Map<Handle, Sampler>;
}

/** Models that a call is about; the first is the one whose weights it may change. */
function handlesOf({ call, args }: Request): Handle[] {
  if (call === "create") return [];
  const [first, second, third] = args;
  const others = call === "blend" ? [second] : call === "step" ? [towardOf(third)] : [];
  return [first, ...others].filter((x) => typeof x === "number");
}

const towardOf = (pull: unknown): unknown =>
  typeof pull === "object" && pull !== null && "toward" in pull ? pull.toward : undefined;

/** Calls after which a model says other things. */
const changing: ReadonlySet<Request["call"]> = new Set(["step", "blend", "replace", "drop"]);

/** @returns what to do with a message. */
export function scheduler({ answer, sampling }: SchedulerParts): (request: Request) => void {
  const queue: Request[] = [];
  let serving = false;

  /** Answers or starts all calls that need not wait, oldest first. */
  async function takeUp(): Promise<void> {
    const blocked = new Set<Handle>();
    for (let i = 0; i < queue.length; ) {
      const request = queue[i]!;
      const handles = handlesOf(request);
      const samples = changing.has(request.call) && sampling.has(handles[0]!);
      if (samples || handles.some((h) => blocked.has(h))) {
        for (const h of handles) blocked.add(h);
        i++;
        continue;
      }
      queue.splice(i, 1);
      const answered = answer(request);
      if (request.call !== "sample") await answered;
    }
  }

  async function serve(): Promise<void> {
    serving = true;
    while (queue.length > 0 || sampling.size > 0) {
      // messages of one moment are taken up together
      await nextTurn();
      await takeUp();
      for (const [handle, sampler] of sampling) {
        await sampler.step();
        if (!sampler.busy) sampling.delete(handle);
      }
    }
    serving = false;
  }

  return (request) => {
    queue.push(request);
    if (!serving) void serve();
  };
}
