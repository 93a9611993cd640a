import type { Leaf, Node, Situation, Status } from "./tree.ts";

/**
 * One tick of a tree, from its root: a generator that yields the leaf to execute in each turn, receives the situation after
 * it, and returns the tick's status and the last situation. After a successful leaf its sequence continues within the same
 * tick, so a tick may last several turns, or none.
 *
 *     selector:  first child whose status is not failure, else failure
 *     sequence:  first child whose status is not success, else success
 *
 * Ticks share no state: after "running" the next one begins at the root again, so that nodes with higher priority can
 * interrupt. A leaf without a reported status counts as failed.
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

/** The status of a tick, and the last situation. */
export interface Ticked {
  readonly status: Status;
  readonly seen: Situation;
}

/** Settings of {@link running}. */
export interface RunOptions {
  /** The skill used where a tick selects none, and after the last tick. */
  readonly idle: string;
  /** Largest number of ticks per episode. Default 1000. */
  readonly ticks?: number;
}

/** Ticks a tree repeatedly: an endless generator that yields the leaf of each turn and receives the situation after it. */
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
