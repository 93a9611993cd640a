import { pairRows } from "../../../common/tokens/pack.ts";
import type { Frozen, Model } from "../../../core/model.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Message, Trajectory } from "../../../core/types.ts";
import { followUp, type Speaker } from "./followUps.ts";

/** Utterances of satisfied and dissatisfied users. */
export interface FollowUps {
  readonly positive: readonly string[];
  readonly negative: readonly string[];
}

/** Settings of {@link followUpLikelihood}. */
export interface FollowUpLikelihoodOptions {
  /** Fixed short utterances, by category: relevance, understanding… */
  readonly followUps: Readonly<Record<string, FollowUps>>;
  /** Name of the user model in the run. Default "user". */
  readonly scorer?: { readonly model: string } | { readonly frozen: string };
  /** Role of the follow-up. Default "user". */
  readonly speaker?: Speaker;
  /** Log-likelihood per token, or of the whole utterance, where long ones count more. Default "mean". */
  readonly reduce?: "mean" | "sum";
  /** Subtract the score after an empty reply, for comparing replies to different prompts. Default false. */
  readonly debias?: boolean;
  /** Default "followUp"; each category's name is added to it. */
  readonly channel?: string;
}

/**
 * Difference of the log-likelihoods of satisfied and dissatisfied follow-ups: no labels, one pass of a frozen model.
 *
 *     l(f | x, y) = 1/|f| Σ_j ln p(f_j | x, y, f_<j)          f: an utterance, in the user's next turn
 *     R = mean over categories of mean_{f ∈ F+} l(f | x, y) − mean_{f ∈ F−} l(f | x, y)
 *
 * in nats per token. One score for each trajectory and category, each already divided by the number of categories, so
 * that the sum of the channels is their mean. If an utterance is impossible for the scorer, the difference is not finite
 * and there is no score. Failed episodes and those without a turn get no score.
 * Paper: "Aligning Language Models Using Follow-up Likelihood as Reward Signal".
 */
export function followUpLikelihood(options: FollowUpLikelihoodOptions): Feedback {
  const {
    followUps,
    scorer = { model: "user" },
    speaker = "user",
    reduce = "mean",
    debias = false,
  } = options;
  const { channel = "followUp" } = options;
  const categories = Object.entries(followUps);
  return async (ctx, { trajectories }) => {
    const user = "model" in scorer ? ctx.model(scorer.model) : ctx.frozen(scorer.frozen);
    const ended = trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const said = ended.map((t) => conversationOf(t));
    const silent = said.map((messages) => [...messages.slice(0, -1), nothingSaid]);
    const signals: Signal[] = [];
    for (const [category, of] of categories) {
      const score = (all: readonly (readonly Message[])[]): Promise<Float64Array> =>
        differences(user, all, of, speaker, reduce);
      const [own, blank] = [await score(said), debias ? await score(silent) : undefined];
      ended.forEach(({ id }, i) => {
        const value = (own[i]! - (blank?.[i] ?? 0)) / categories.length;
        if (!Number.isFinite(value)) return;
        const about = [{ trajectory: id }];
        signals.push({
          kind: "score",
          channel: `${channel}.${category}`,
          about,
          value,
          source: sourceOf(scorer),
        });
      });
    }
    return signals;
  };
}

const nothingSaid: Message = { role: "assistant", content: "" };

const sourceOf = (scorer: NonNullable<FollowUpLikelihoodOptions["scorer"]>): string =>
  "model" in scorer ? `model:${scorer.model}` : `frozen:${scorer.frozen}`;

function conversationOf({ turns }: Trajectory): readonly Message[] {
  const last = turns.at(-1);
  return last ? [...last.prompt, last.action] : [];
}

/** Mean log-likelihood of the satisfied utterances minus that of the others, after each conversation. One model call. */
async function differences(
  user: Pick<Model | Frozen, "codec" | "score">,
  conversations: readonly (readonly Message[])[],
  { positive, negative }: FollowUps,
  speaker: Speaker,
  reduce: "mean" | "sum",
): Promise<Float64Array> {
  const texts = [...positive, ...negative];
  const asked = conversations.flatMap((c) => texts.map((text) => followUp(user.codec, c, text, speaker)));
  const rows = pairRows(asked);
  const { logp } = asked.length > 0 ? await user.score(rows) : { logp: new Float32Array() };
  return Float64Array.from(conversations, (_, c) => {
    let value = 0;
    texts.forEach((_text, f) => {
      const r = c * texts.length + f;
      const own = logp.subarray(rows.targetOffset[r]!, rows.targetOffset[r + 1]!);
      const sum = own.reduce((a, b) => a + b, 0);
      const likelihood = reduce === "mean" ? sum / own.length : sum;
      value += f < positive.length ? likelihood / positive.length : -likelihood / negative.length;
    });
    return value;
  });
}
