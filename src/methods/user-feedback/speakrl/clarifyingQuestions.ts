import type { Feedback } from "../../../core/slots.ts";
import type { Turn } from "../../../core/types.ts";
import { type Intent, intentOf, slotsNamed } from "../../../worlds/intent.ts";

/** The move of a turn: asks for some slots, acts, or neither. */
export type Move =
  | { readonly kind: "ask"; readonly slots: readonly string[] }
  | { readonly kind: "act" }
  | { readonly kind: "unreadable" };

/** Classification of a turn; "due" is an action with no slot missing. */
export type MoveWorth = "useful" | "useless" | "premature" | "due" | "unreadable";

/** Settings of {@link clarifyingQuestions}. */
export interface ClarifyingQuestionsOptions {
  /** Reward of a turn by its classification. Default 0.1, −0.2, −0.2, 0, −0.5, in the order of the type. */
  readonly pay?: Partial<Readonly<Record<MoveWorth, number>>>;
  /** Parses the move of a turn. Default: {@link plainMove}. */
  readonly move?: (turn: Turn, intent: Intent) => Move;
  /** Default "asking". */
  readonly channel?: string;
}

/**
 * Rewards questions that uncover missing slots, and penalises the others, so that the agent balances asking and acting.
 *
 *     T: slots that the turn asks for          M[0]: required slots not yet given           M[t + 1] = M[t] \ T
 *     useful: T ∩ M[t] is not empty            useless: it is empty (repeated, off topic, or nothing missing)
 *     premature: acts while M[t] is not empty  due: acts when it is                          unreadable: neither
 *
 * One signal per turn. A slot is rewarded once, so an episode has at most |M[0]| rewarded questions. Failed episodes get
 * none. @throws WhetstoneError `capability.missing` for tasks without an intent in their metadata.
 * Paper: "SpeakRL: Synergizing Reasoning, Speaking, and Acting in Language Models with Reinforcement Learning".
 */
export function clarifyingQuestions(options: ClarifyingQuestionsOptions = {}): Feedback {
  const { move = plainMove, channel = "asking" } = options;
  const pay = { ...usualPay, ...options.pay };
  return async (ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .flatMap((t) =>
        moveWorths(t.turns, intentOf(ctx.task(t.task)), move).map((worth, turn) => ({
          kind: "reward" as const,
          channel,
          about: [{ trajectory: t.id, turn }],
          value: pay[worth],
          source: "environment",
        })),
      );
}

const usualPay: Readonly<Record<MoveWorth, number>> = {
  useful: 0.1,
  useless: -0.2,
  premature: -0.2,
  due: 0,
  unreadable: -0.5,
};

/** Classification of each turn of an episode, [turns]. */
export function moveWorths(turns: readonly Turn[], intent: Intent, move = plainMove): MoveWorth[] {
  let missing = intent.missing;
  return turns.map((turn) => {
    const does = move(turn, intent);
    if (does.kind === "unreadable") return "unreadable";
    if (does.kind === "act") return missing.length > 0 ? "premature" : "due";
    const left = missing.filter((slot) => !does.slots.includes(slot));
    const useful = left.length < missing.length;
    missing = left;
    return useful ? "useful" : "useless";
  });
}

/** `ask …` asks for the slots that it names, `submit` acts. */
export function plainMove({ action }: Turn, intent: Intent): Move {
  const said = action.content.trim();
  if (said === "submit") return { kind: "act" };
  return /^ask\s/.test(said) ? { kind: "ask", slots: slotsNamed(intent, said) } : { kind: "unreadable" };
}
