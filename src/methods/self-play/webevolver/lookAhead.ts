/** Choosing an action by imagining what follows. Paper: "WebEvolver: Enhancing Web Agent Self-Improvement with Coevolving World Model". */

/** What a look-ahead needs; S is a state, such as the text of an observation. */
export interface LookAheadOptions<S> {
  /** k candidates, drawn from the policy, likeliest or first drawn first. */
  readonly candidates: (state: S) => readonly string[];
  /** The policy's own next action in an imagined state. */
  readonly act: (state: S) => string;
  /** The world model; undefined where it knows no answer. */
  readonly next: (state: S, action: string) => S | undefined;
  /** A judge of an imagined branch, in {0, ½, 1}: the states that it comes through, and whether it stopped. */
  readonly judge: (branch: readonly S[], stopped: boolean) => number;
  readonly stops: (action: string) => boolean;
  /** d, imagined actions, the candidate among them. */
  readonly depth: number;
}

/**
 * For each candidate an imagined branch: the candidate, then the policy's own actions, d in all or until it stops or the model knows no
 * answer. The candidate of the best branch is taken, the first of equals, so that where no branch is better the policy's likeliest action is.
 */
export function lookAhead<S>(state: S, options: LookAheadOptions<S>): string {
  const { candidates, act, next, judge, stops, depth } = options;
  const scoreOf = (candidate: string): number => {
    const branch = [state];
    let action = candidate;
    for (let k = 0; k < depth; k++) {
      if (stops(action)) return judge(branch, true);
      const seen = next(branch.at(-1)!, action);
      if (seen === undefined) return judge(branch, false);
      branch.push(seen);
      action = act(seen);
    }
    return judge(branch, stops(action));
  };
  const scored = candidates(state).map((action) => ({ action, score: scoreOf(action) }));
  return scored.reduce((best, one) => (one.score > best.score ? one : best)).action;
}
