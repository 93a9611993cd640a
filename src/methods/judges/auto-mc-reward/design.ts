/** The authors of reward code: who writes it, who reviews it, and who reads the failures. */
import type { Ctx } from "../../../core/context.ts";
import { type Able, counted, type EvaluatorCall } from "../../../core/evaluator.ts";
import type { Random } from "../../../core/random.ts";
import { type Fields, paid, ranReward, type Said } from "./rewardCode.ts";

/** A version of the reward code, and what came of it. */
export interface Version {
  readonly code: string;
  /** Share of successes, by the environment and not by the code. */
  readonly success: number;
  /** Causes of the failures and suggestions, in words; empty where nobody looked. */
  readonly analysis: string;
}

/** What a designer is asked. */
export interface DesignRequest {
  /** The first task of the iteration, in words. */
  readonly task: string;
  /** A state as the code sees it. */
  readonly fields: Fields;
  /** The best version so far, to be revised. */
  readonly previous?: Version;
  /** A draft of this request that was refused, and why. */
  readonly refused?: { readonly code: string; readonly why: string };
}

/** A draft with what it says of recorded attempts, for a critic. */
export interface Draft {
  readonly request: DesignRequest;
  readonly code: string;
  /** Attempts as frames, and what each transition would be paid. */
  readonly samples: readonly { readonly frames: readonly Fields[]; readonly paid: readonly number[] }[];
}

/** Failed attempts with their rewards, for an analyser. */
export type Failures = Draft["samples"];

/** Who makes reward code. Any of them may be a model or a script; a call that fails gives undefined. */
export interface Authors {
  /** Writes code. */
  readonly designer: {
    readonly name: string;
    write(request: DesignRequest, call: EvaluatorCall): Promise<string | undefined>;
  };
  /** Accepts a draft with the outcome "success", and says what is wrong with others. Without one, code that runs is accepted. */
  readonly critic?: Able<"critique", Draft>;
  /** Says why attempts failed and what might help. Without one, a designer knows the success alone. */
  readonly analyser?: Able<"critique", Failures>;
}

/** Settings of {@link accepted}. */
export interface DraftOptions {
  /** Drafts of one version, at most. */
  readonly drafts: number;
  /** Weight of the dense reward. */
  readonly weight: number;
  /** False takes the first draft as it is, neither run nor reviewed. Default true. */
  readonly reviewed?: boolean;
}

/**
 * The inner loop: a draft is run on recorded attempts and reviewed by the critic, and what is wrong goes back to the designer, up to `drafts`
 * times. A critic that fails leaves the verdict to the sandbox. Undefined where no draft was accepted. Every draft counts as a call of a judge, and
 * a designer without an answer as a failure.
 * Paper: "Auto MC-Reward: Automated Dense Reward Design with Large Language Models for Minecraft".
 */
export async function accepted(
  ctx: Pick<Ctx, "count" | "model" | "environment">,
  { designer, critic }: Authors,
  first: DesignRequest,
  recorded: readonly (readonly Fields[])[],
  { drafts, weight, reviewed = true, random }: DraftOptions & { readonly random: Random },
): Promise<string | undefined> {
  let request = first;
  for (let draft = 0; draft < drafts; draft++) {
    ctx.count("judge.calls", 1);
    const code = await designer.write(request, { random: random.split("draft", draft), run: ctx });
    if (code === undefined) {
      ctx.count("judge.failures", 1);
      continue;
    }
    if (!reviewed) return code;
    const ran = await ranReward(code, recorded);
    const why =
      ran.kind === "error"
        ? ran.message
        : critic &&
          (await objection(
            ctx,
            critic,
            { request, code, samples: samplesOf(recorded, ran.said, weight) },
            random,
          ));
    if (why === undefined) return code;
    request = { ...first, refused: { code, why } };
  }
  return undefined;
}

/** What a critic has against a draft; undefined where it accepts, or fails. */
async function objection(
  ctx: Pick<Ctx, "count" | "model" | "environment">,
  critic: Able<"critique", Draft>,
  draft: Draft,
  random: Random,
): Promise<string | undefined> {
  const said = await counted(critic, ctx).critique(draft, { random: random.split("critic", draft.code) });
  return said === undefined || said.outcome === "success" ? undefined : said.text;
}

/** Attempts with what each of their transitions is paid. */
export const samplesOf = (
  attempts: readonly (readonly Fields[])[],
  said: readonly (readonly Said[])[],
  weight: number,
): Draft["samples"] => attempts.map((frames, i) => ({ frames, paid: said[i]!.map((s) => paid(s, weight)) }));
