import type { Leaf, Node, Situation, Status } from "./tree.ts";

/**
 * One tick of a tree, from its root: a generator that yields the leaf to be done in each turn, is sent the situation
 * after it, and returns how the tick ended and what was seen last. A leaf that ends in success lets its sequence go on
 * within the same tick, which may thus last several turns, or none.
 *
 *     selector:  first child whose status is not failure, else failure
 *     sequence:  first child whose status is not success, else success
 *
 * Nothing is remembered between ticks: after "running" the next one begins at the root again, so that what stands
 * further up can interrupt. A leaf after which the world says nothing of a status has failed.
 */
export function* tick(node: Node, seen: Situation): Generator<Leaf, Ticked, Situation> {
  switch (node.kind) {
    case "condition":
      return { status: seen.facts.has(node.fact) === node.holds ? "success" : "failure", seen };
    case "action":
    case "neural": {
      const after = yield node;
      return { status: after.last ?? "failure", seen: after };
    }
    case "selector":
    case "sequence": {
      const goesOn: Status = node.kind === "selector" ? "failure" : "success";
      let done: Ticked = { status: goesOn, seen };
      for (const child of node.children) {
        done = yield* tick(child, done.seen);
        if (done.status !== goesOn) break;
      }
      return done;
    }
  }
}

/** How a tick ended, and what was seen last. */
export interface Ticked {
  readonly status: Status;
  readonly seen: Situation;
}

/** How a tree is run. */
export interface RunOptions {
  /** Done where a tick found nothing to do, and after the last tick. */
  readonly idle: string;
  /** Ticks of one episode. Default 1000. */
  readonly ticks?: number;
}

/** Ticks a tree over and over: what it does in each turn, for ever, as it is sent what came of it. */
export function* running(
  tree: Node,
  first: Situation,
  { idle, ticks = 1000 }: RunOptions,
): Generator<Leaf, never, Situation> {
  const nothing: Leaf = { kind: "action", skill: idle };
  let seen = first;
  for (let n = 0; n < ticks; n++) {
    const ticking = tick(tree, seen);
    let step = ticking.next();
    if (step.done) seen = yield nothing;
    else {
      while (!step.done) step = ticking.next(yield step.value);
      seen = step.value.seen;
    }
  }
  for (;;) yield nothing;
}
