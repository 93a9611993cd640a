/** How replies are sampled by the commands that look at a model: eval, play and validate. */
import type { Command } from "commander";
import { WhetstoneError } from "../core/errors.ts";
import type { Environment } from "../env/environment.ts";
import { flagOf } from "./flagOf.ts";
import { numberBetween, numberOption, statedNumber } from "./numbers.ts";
import { number } from "./output.ts";

export interface SamplingFlags {
  readonly greedy?: true;
  readonly temperature?: string;
  readonly topP?: string;
  readonly replyTokens?: string;
}

/** As an evaluation takes it. */
export interface Sampling {
  readonly mode: "greedy" | "sampled";
  readonly temperature?: number;
  readonly topP?: number;
}

/** Adds what {@link samplingOf} and {@link replyTokensOf} read. */
export const withSamplingFlags = (command: Command): Command =>
  command
    .option("--greedy", "take the most probable token instead of sampling")
    .option("--temperature <n>", "sampling temperature (default: 1; 0: as --greedy)")
    .option(
      "--top-p <share>",
      "sample among the most probable tokens whose probabilities together reach this share (default: 1, all tokens)",
    )
    .option(
      "--reply-tokens <n>",
      "maximum length of a reply, in tokens of the model (default: the run's, or the environment's limits.actionTokens)",
    );

/** @throws WhetstoneError `option.range`. */
export function samplingOf(flags: SamplingFlags): Sampling {
  const temperature =
    flags.temperature === undefined ? undefined : numberBetween("--temperature", flags.temperature, 0, 100);
  const topP =
    flags.topP === undefined
      ? undefined
      : numberOption("--top-p", flags.topP, {
          isValid: (value) => value > 0 && value <= 1,
          expected: "a share above 0, 1 at most",
          fix: "Write 0.9 to leave out the least probable tenth.",
        });
  const mode = flags.greedy || temperature === 0 ? "greedy" : "sampled";
  if (mode === "greedy" && (topP !== undefined || (temperature ?? 0) > 0)) {
    throw new WhetstoneError("option.range", {
      where: topP === undefined ? "--temperature" : "--top-p",
      got: `${topP ?? temperature} for greedy replies`,
      expected: "greedy replies, which are not sampled, or sampled ones",
      fix: "Leave one of the options out.",
    });
  }
  if (mode === "greedy") return { mode };
  return { mode, ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { topP }) };
}

/** @throws WhetstoneError `option.range` for an option that only means something to a model. @param models the options that name one. */
export function requireModelFor<O extends object>(
  options: O,
  names: readonly (keyof O & string)[],
  models: string,
): void {
  const idle = names.find((name) => options[name] !== undefined);
  if (idle === undefined) return;
  throw new WhetstoneError("option.range", {
    where: flagOf(idle),
    got: "no model",
    expected: `${models} beside it`,
    fix: "Name a model, or leave this option out.",
  });
}

/** What a report says of it. */
export function samplingWords({ mode, temperature, topP }: Sampling): string {
  const how = [
    ...(temperature === undefined ? [] : [`temperature ${number(temperature)}`]),
    ...(topP === undefined ? [] : [`top-p ${number(topP)}`]),
  ];
  return how.length === 0 ? mode : `${mode} at ${how.join(" and ")}`;
}

/** @throws WhetstoneError `option.range`. */
export const replyTokensOf = ({ replyTokens }: SamplingFlags): number | undefined =>
  replyTokens === undefined ? undefined : statedNumber("--reply-tokens", replyTokens, 1);

/** The environment with another limit of a reply. */
export const withReplyTokens = (environment: Environment, actionTokens: number | undefined): Environment =>
  actionTokens === undefined
    ? environment
    : { ...environment, limits: { ...environment.limits, actionTokens } };
