/**
 * The order in which the engine thread answers calls. Sampling proceeds in steps, for all models in turn, and messages
 * are handled between two steps: more requests join, other calls are answered. A call that changes the weights of a model
 * waits until that model's sampling is done, and later calls to that model wait behind it.
 */
import type { Handle, Request } from "./protocol.ts";
import type { Sampler } from "./sampler.ts";

export interface SchedulerParts {
  /** Answers a call. A sampling call joins the model's sampler in `sampling`, and is answered when the sampler is done with it. */
  answer(request: Request): Promise<void>;
  /** Samplers of models with open requests. */
  readonly sampling: Map<Handle, Sampler>;
  /** Resolves once the messages that have arrived are in the queue. */
  nextTurn(): Promise<unknown>;
}

/** Models that a call uses; the first is the one whose weights it may change. */
function handlesOf({ call, args }: Request): Handle[] {
  if (call === "create") return [];
  const [first, second, third] = args;
  const others =
    call === "blend"
      ? [second]
      : call === "step"
        ? [towardOf(third)]
        : call === "sample" && Array.isArray(second)
          ? second.map(mixedInOf)
          : [];
  return [first, ...others].filter((x) => typeof x === "number");
}

const mixedInOf = (request: { readonly mix?: { readonly of: unknown } }): unknown => request.mix?.of;

const towardOf = (pull: unknown): unknown =>
  typeof pull === "object" && pull !== null && "toward" in pull ? pull.toward : undefined;

/** Calls that change a model's outputs. */
const changing: ReadonlySet<Request["call"]> = new Set(["step", "blend", "replace", "drop"]);

/** @returns the message handler. */
export function scheduler({ answer, sampling, nextTurn }: SchedulerParts): (request: Request) => void {
  const queue: Request[] = [];
  let serving = false;

  /** Whether open requests read the weights of a model. */
  const isSampled = (handle: Handle): boolean =>
    sampling.has(handle) || [...sampling.values()].some((sampler) => sampler.mixesIn(handle));

  /** Answers or starts all calls that need not wait, oldest first. */
  async function takeUp(): Promise<void> {
    const blocked = new Set<Handle>();
    for (let i = 0; i < queue.length; ) {
      const request = queue[i]!;
      const handles = handlesOf(request);
      const samples = changing.has(request.call) && isSampled(handles[0]!);
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
      // messages that arrive together are handled together
      await nextTurn();
      await takeUp();
      for (const [handle, sampler] of sampling) {
        await sampler.step();
        if (sampler.busy) continue;
        sampler.close();
        sampling.delete(handle);
      }
    }
    serving = false;
  }

  return (request) => {
    queue.push(request);
    if (!serving) void serve();
  };
}
