import { pairRows } from "../../../common/tokens/pack.ts";
import { insertedAfterTask } from "../../../common/tokens/privilegedContext.ts";
import { rewritten } from "../../../common/tokens/rewrite.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import type { Annotate } from "../../../core/slots.ts";
import type { Id, Message, Task } from "../../../core/types.ts";

/** Settings of {@link privilegedEvidence}. */
export interface PrivilegedEvidenceOptions {
  /** A turn's whole prompt with the answer inserted. Default: a user message "answer …" after the task's own prompt. */
  readonly tell?: (messages: readonly Message[], answer: string, task: Task) => readonly Message[];
  /** Default "evidence". */
  readonly note?: string;
}

/**
 * The evidence of each turn for the right answer y: the log-ratio of its action under the policy with y in the prompt
 * to the policy without, per token.
 *
 *     e[k] = (1/|a[k]|) Σ_j ( ln π(a[k, j] | prompt of turn k with y) − ln π(a[k, j] | prompt of turn k) )
 *
 * By Bayes' rule the sum over a trajectory's tokens is ln p(y | trajectory) / p(y), to the degree that the policy with y
 * in the prompt equals the policy's posterior; tool results cancel, since tools do not see the answer. The second term
 * was recorded by the sampler; the first takes one call of the current policy. Turns without tokens get NaN; failed
 * episodes get no note.
 * Paper: "PBSD: Privileged Bayesian Self-Distillation for Long-Horizon Credit Assignment".
 */
export function privilegedEvidence(options: PrivilegedEvidenceOptions = {}): Annotate {
  const { tell = afterTask, note = "evidence" } = options;
  return async (ctx, { trajectories }) => {
    const model = ctx.model();
    const out = new Map<Id, Float32Array>();
    const asked = trajectories.flatMap((t) => {
      if (t.end.kind === "failed") return [];
      const task = ctx.task(t.task);
      const { reference } = task;
      if (reference === undefined) throw noReference(task);
      const told = rewritten(t, t.id, model.codec, (messages) => tell(messages, reference, task));
      const evidence = new Float32Array(t.turns.length).fill(Number.NaN);
      out.set(t.id, evidence);
      return told.turns.flatMap(({ tokens }, k) => {
        const logp = t.turns[k]!.tokens?.logp;
        if (!tokens || !logp || tokens.action.length === 0) return [];
        if (tokens.prompt.length + tokens.action.length > model.contextTokens) return []; // the prompt with the answer does not fit the context
        return [{ evidence, k, logp, prompt: tokens.prompt, target: tokens.action }];
      });
    });
    if (asked.length === 0) return { [note]: out };
    const rows = pairRows(asked);
    const teacher = (await model.score(rows)).logp;
    asked.forEach(({ evidence, k, logp }, r) => {
      let sum = 0;
      for (let j = 0; j < logp.length; j++) sum += teacher[rows.targetOffset[r]! + j]! - logp[j]!;
      evidence[k] = sum / logp.length;
    });
    return { [note]: out };
  };
}

const afterTask = (messages: readonly Message[], answer: string, task: Task): readonly Message[] =>
  insertedAfterTask(messages, `answer ${answer}`, task);

const noReference = ({ id }: Task): WhetstoneError =>
  new WhetstoneError("config.invalid", {
    where: "privilegedEvidence",
    got: `task "${id}" without a reference`,
    expected: "the right answer of every task",
    fix: "Choose an environment whose tasks have a reference, or a method that needs none.",
  });
