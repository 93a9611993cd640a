/** How versions are judged, as commands are told it. */

import type { Command } from "commander";
import { numberIn } from "../common/text/numberIn.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { ReleaseControllerOptions } from "../release/controller.ts";
import { defaultGuardrails, readGuardrail, sayBound } from "../release/guardrails.ts";
import { meanValue } from "../release/liveData.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { seconds } from "./durations.ts";
import { numberBetween } from "./numbers.ts";

export interface ReleaseFlags {
  readonly window?: string;
  readonly channel?: string;
  readonly range?: string;
  readonly limit?: readonly string[];
  readonly effect?: string;
  readonly level?: string;
}

const usual = defaultGuardrails.map(({ name, bound }) => `${name}=${sayBound(bound)}`).join(" ");

/** The options that {@link releaseOptions} reads. */
export function addReleaseOptions(command: Command): Command {
  return command
    .option("--window <duration>", "feedback window after a unit's first response (default: 1h)")
    .option(
      "--channel <name>",
      "channel of the reward, which is the mean of a unit's values on it (default: all channels)",
    )
    .option("--range <low,high>", "lowest and highest possible reward, or none (default: 0,1)")
    .option("--limit <metric=limit...>", `guardrails, or none to disable them (default: ${usual})`)
    .option("--effect <x>", "minimum improvement to promote; negative: non-inferiority margin (default: 0)")
    .option("--level <x>", "error probability over all looks (default: 0.05)");
}

/** @throws WhetstoneError `option.range`, `name.unknown`. */
export function releaseOptions(flags: ReleaseFlags, production: TrafficStore): ReleaseControllerOptions {
  const { window, channel, range, limit, effect, level } = flags;
  return {
    production,
    ...(channel === undefined ? {} : { reward: meanValue(channel) }),
    ...(range === undefined ? {} : { range: rangeOf(range) }),
    ...(window === undefined ? {} : { window: 1000 * seconds("--window", window) }),
    ...(limit === undefined
      ? {}
      : { guardrails: limit.filter((text) => text !== "none").map(readGuardrail) }),
    ...(effect === undefined ? {} : { minimumEffect: numberBetween("--effect", effect, -1e9, 1e9) }),
    ...(level === undefined ? {} : { level: numberBetween("--level", level, 1e-6, 0.5) }),
  };
}

function rangeOf(text: string): readonly [number, number] | undefined {
  if (text === "none") return undefined;
  const [low, high, more] = text.split(",").map(numberIn);
  if (low !== undefined && high !== undefined && more === undefined && low < high) return [low, high];
  throw new WhetstoneError("option.range", {
    where: "--range",
    got: `"${text}"`,
    expected: "the lowest and the highest value, such as 0,1 or -1,1, or none",
    fix: "Correct it.",
  });
}
