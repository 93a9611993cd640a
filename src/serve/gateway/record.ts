/** Builds the stored record of one call. */
import type { ServedChoice, ServedResponse } from "../../core/served.ts";
import type { Id, TurnTokens } from "../../core/types.ts";
import type { Answerer } from "./answerer.ts";
import type { Asked } from "./asked.ts";
import type { Assembled } from "./assemble.ts";
import { cutTag, type Opened, type Place, prefixTag } from "./sessions.ts";
import { keyTag } from "./spending.ts";
import type { ChosenVersion } from "./versions.ts";

/** A running call. */
export interface Underway {
  readonly id: Id;
  readonly asked: Asked;
  readonly opened: Opened;
  readonly user?: Id;
  /** Id of the key that it was made with. */
  readonly key?: Id;
  readonly chosen: ChosenVersion;
  readonly channels: readonly string[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** How it ended. */
export interface End {
  readonly status: ServedResponse["status"];
  readonly error?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Tags from the backend. */
  readonly tags?: Readonly<Record<string, string>>;
}

/** Name of the tag for the distribution that an upstream's log-probabilities belong to. */
export const logprobsTag = "whetstone.logprobs";
/** Name of the tag with the id that the upstream gave its answer. */
export const upstreamTag = "whetstone.upstream";

export function served(
  { id, asked, opened, user, key, chosen, channels, at }: Underway,
  { choices, usage, id: upstreamId }: Assembled,
  place: Place,
  end: End,
): ServedResponse {
  const { exact } = chosen.answerer;
  const hasTokens = choices.some(({ tokens }) => tokens !== undefined);
  return {
    id,
    session: opened.session,
    ...(user === undefined ? {} : { user }),
    trajectory: place.trajectory,
    turn: place.turn,
    origin: "gateway",
    at,
    ms: Math.max(0, end.at - at),
    version: chosen.version,
    propensity: chosen.propensity,
    ...(chosen.split === undefined ? {} : { split: chosen.split }),
    model: asked.model,
    settings: asked.settings,
    prompt: asked.prompt,
    choices,
    status: end.status,
    ...(end.error === undefined ? {} : { error: end.error }),
    ...(usage ? { usage } : {}),
    channels,
    tags: {
      ...asked.tags,
      ...end.tags,
      ...(key === undefined ? {} : { [keyTag]: key }),
      ...(upstreamId === undefined ? {} : { [upstreamTag]: upstreamId }),
      ...(place.cut ? { [cutTag]: place.cut } : {}),
      ...(place.prefix ? { [prefixTag]: place.prefix } : {}),
      ...(hasTokens && exact ? { [logprobsTag]: exact } : {}),
    },
  };
}

/** Adds the exact tokens of a policy in this process to the replies. */
export const withTokens = (
  choices: readonly ServedChoice[],
  tokens: readonly TurnTokens[],
): readonly ServedChoice[] =>
  choices.map((choice, i) => {
    const exact = tokens[i];
    return exact ? { ...choice, tokens: exact } : choice;
  });

/** Whether a reply is sampled from the model's own distribution: no temperature, truncation, penalty or bias. */
export function isPlain({ settings }: Asked, { exact }: Pick<Answerer, "exact">): boolean {
  const usual: Readonly<Record<string, number>> = {
    temperature: 1,
    top_p: 1,
    top_k: -1,
    min_p: 0,
    presence_penalty: 0,
    frequency_penalty: 0,
    repetition_penalty: 1,
  };
  const pushed = ["logit_bias", "allowed_token_ids", "response_format", "structured_outputs"];
  return (
    exact !== undefined &&
    Object.entries(usual).every(([name, value]) => (settings[name] ?? value) === value) &&
    pushed.every((name) => (settings[name] ?? null) === null)
  );
}
