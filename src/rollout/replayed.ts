/** Off-policy experience: replays production logs instead of playing episodes. */

import { counted } from "../common/text/counted.ts";
import { writeMessage } from "../common/text/toolCalls.ts";
import { concatIds, onSharedSequences, sequenceLength } from "../common/tokens/sequence.ts";
import { isWhetstoneError, WhetstoneError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import type { Rollout } from "../core/slots.ts";
import { type TrainingExample, trajectoriesOf } from "../core/trainingExamples.ts";
import type { Id, Task, Trajectory, Turn, TurnTokens } from "../core/types.ts";

/** Settings of {@link replayed}. */
export interface ReplayedOptions {
  /**
   * "recorded": a conversation is used only where every reply was recorded in this policy's tokens, with the
   * log-probabilities that importance ratios need. "encoded": other conversations are tokenised, without log-probabilities:
   * for likelihoods and preferences, not for ratios. Default "recorded". Single replies (pairs, demonstrations, ratings) are
   * always encoded where they were not recorded.
   */
  readonly tokens?: "recorded" | "encoded";
  /**
   * The group of a reply. "task": replies to the same prompt; "all": all replies of the iteration, since users rarely send the
   * same prompt twice. A pair is always its own group. Default "task".
   */
  readonly group?: "task" | "all";
}

type Policy = Pick<Model, "codec" | "contextTokens">;

/**
 * Replays the training examples of the chosen tasks: nothing is sampled, and no environment runs. Units: one trajectory
 * each. An example that the policy cannot encode (unknown words, too long, not recorded as tokens) is left out whole.
 *
 * Stats: examples, and unfit, the share of examples that was left out.
 * @throws WhetstoneError `task.none` where every example was left out, or none of the tasks has one.
 */
export function replayed(examples: readonly TrainingExample[], options: ReplayedOptions = {}): Rollout {
  const { tokens = "recorded", group = "task" } = options;
  const byTask = Map.groupBy(examples, (example) => example.task.id);
  return async (ctx) => {
    const due = ctx.tasks.flatMap((task) => byTask.get(task.id) ?? []);
    if (due.length === 0 && ctx.tasks.length > 0) throw nothingRecorded(ctx.tasks);
    const policy = ctx.model();
    const readable = (example: TrainingExample) => {
      const exact = tokens === "recorded" && example.kind === "conversation";
      const whole = trajectoriesOf(example).map((t) => inTokens(t, policy, exact));
      const fit = whole.filter((t) => t !== undefined);
      return fit.length === whole.length ? [{ example, trajectories: fit }] : [];
    };
    const read = due.flatMap(readable);
    if (due.length > 0 && read.length === 0 && examples.every((example) => readable(example).length === 0)) {
      throw unreadableAll(examples, policy);
    }
    const groupOf = (example: TrainingExample): Id =>
      example.kind === "pair" ? example.id : group === "all" ? "logged" : example.task.id;
    const unfit = due.length > 0 ? { unfit: 1 - read.length / due.length } : {};
    return {
      trajectories: read.flatMap(({ trajectories }) => trajectories),
      units: read.flatMap(({ example, trajectories }) =>
        trajectories.map(({ id }) => ({ id, group: groupOf(example), members: [id] })),
      ),
      stats: { examples: due.length, ...unfit },
    };
  };
}

const nothingRecorded = (tasks: readonly Task[]): WhetstoneError =>
  new WhetstoneError("task.none", {
    where: "replayed",
    got: `${counted(tasks.length, "task")}, such as "${tasks[0]!.id}", none of which has an example`,
    expected: "tasks of recorded examples",
    fix: "Choose examples of the kind that the method learns from, and a method that trains on the tasks as they are.",
  });

function unreadableAll(examples: readonly TrainingExample[], { contextTokens }: Policy): WhetstoneError {
  const conversations = examples.some(({ kind }) => kind === "conversation");
  return new WhetstoneError("task.none", {
    where: "replayed",
    got: `${examples.length} examples, none of which the policy can read in ${contextTokens} tokens`,
    expected: conversations
      ? "conversations whose replies were recorded in this policy's own tokens"
      : "prompts and replies that fit the context and use known words",
    fix: conversations
      ? "Serve the policy itself so that its tokens are recorded, or learn from pairs, demonstrations or ratings; or allow longer sequences."
      : "Allow longer sequences (--context-tokens), or use a model whose vocabulary has the words.",
  });
}

/** @param exact whether every reply must have been recorded as tokens. @returns undefined where the policy cannot encode it. */
function inTokens(t: Trajectory, policy: Policy, exact: boolean): Trajectory | undefined {
  const read: TurnTokens[] = [];
  for (const turn of t.turns) {
    const recorded = turn.tokens && isItsOwn(turn, turn.tokens, policy) ? turn.tokens : undefined;
    const tokens = recorded ?? (exact ? undefined : encoded(turn, policy));
    if (!tokens || sequenceLength(tokens) > policy.contextTokens) return undefined;
    read.push(tokens);
  }
  const shared = onSharedSequences(read);
  return { ...t, turns: t.turns.map((turn, k) => ({ ...turn, tokens: shared[k]! })) };
}

/** Whether recorded tokens are this policy's: they must decode to the recorded text. */
function isItsOwn({ action }: Turn, tokens: TurnTokens, { codec }: Policy): boolean {
  if ([tokens.prompt, tokens.action].some((ids) => ids.some((id) => id < 0 || id >= codec.vocabulary))) {
    return false;
  }
  const said = codec.decode(tokens.action).trim();
  // the tokens contain calls in the model's own format, so only the content before them is compared
  return action.toolCalls ? said.startsWith(action.content.trim()) : said === action.content.trim();
}

/** A reply in the policy's tokens, without log-probabilities. */
function encoded({ prompt, action }: Turn, { codec }: Policy): TurnTokens | undefined {
  try {
    const ids = concatIds([codec.encode(writeMessage(action)), Int32Array.of(codec.endId)]);
    const unknown = new Float32Array(ids.length).fill(Number.NaN);
    return { prompt: codec.open(prompt), action: ids, logp: unknown, behaviour: unknown };
  } catch (e) {
    if (isWhetstoneError(e) && unreadable.has(e.code)) return undefined;
    throw e;
  }
}

const unreadable: ReadonlySet<string> = new Set(["tokenizer.unknownToken", "template.failed"]);
