/** A request while its reply is sampled: what it may write, what it has written, and when it ends. */
import { WhetstoneError } from "../../core/errors.ts";
import type { Codec, Sample } from "../../core/model.ts";
import { type Random, randomStream } from "../../core/random.ts";
import type { AllowedTokens, StopReason } from "../../core/types.ts";
import { type Choice, choiceTree } from "../choices.ts";
import { type Ends, endsOf, requireOptions } from "../requests.ts";
import type { DecoderConfig } from "./config.ts";
import { type Drawn, draw, drawMixed, type Scores } from "./draw.ts";
import type { LocalRequest } from "./protocol.ts";
import { requireTokens } from "./tokenIds.ts";

/** Requests that were submitted together and are answered together. */
export interface Call {
  readonly samples: Sample[];
  left: number;
  readonly resolve: (samples: Sample[]) => void;
  readonly reject: (e: unknown) => void;
  failed: boolean;
  readonly watch: Watch | undefined;
}

/** Who waits for a call, and is told of each token. */
export interface Watch {
  readonly id: number;
  readonly tell: (request: number, token: number) => void;
}

export interface Row {
  readonly call: Call;
  /** Index among the requests of its call. */
  readonly at: number;
  readonly request: LocalRequest;
  /** Maximum number of tokens. */
  readonly limit: number;
  readonly ends: Ends;
  readonly random: Random;
  readonly action: number[];
  readonly logp: number[];
  readonly behaviour: number[];
  readonly entropy: number[];
  /** Allowed ids at each token, if the request restricts them. */
  readonly allowed: Int32Array[];
  /** Current node in the tree of choices. */
  choice: Choice | undefined;
  slot: number;
  /** Tokens of the prompt that were not computed again. */
  reused: number;
}

/** @throws WhetstoneError for a request that the model cannot answer. */
export function openRow(
  request: LocalRequest,
  call: Call,
  at: number,
  { contextTokens, vocabulary }: DecoderConfig,
  codec: Pick<Codec, "endId" | "decode">,
): Row {
  const room = contextTokens - request.prompt.length;
  if (request.prompt.length < 1 || room < 1) {
    throw new WhetstoneError("context.tooLong", {
      where: "sample",
      got: `a prompt of ${request.prompt.length} tokens`,
      expected: `1 to ${contextTokens - 1}`,
      fix: "Shorten the conversation or make the model with a longer context.",
    });
  }
  requireOptions(request);
  const { prompt, allowed = [], choices = [], stopTokens = [] } = request;
  for (const ids of [prompt, ...allowed, ...choices, Int32Array.from(stopTokens)])
    requireTokens("sample", ids, vocabulary);
  return {
    call,
    at,
    request: { ...request, allowed: allowed.map(ascending) },
    limit: Math.min(request.maxTokens, room),
    ends: endsOf(request, codec),
    random: randomStream(request.seed),
    action: [],
    logp: [],
    behaviour: [],
    entropy: [],
    allowed: [],
    choice: request.choices && choiceTree(request.choices),
    slot: -1,
    reused: 0,
  };
}

export function fail(row: Row, e: unknown): void {
  row.call.failed = true;
  row.call.reject(e);
}

/** An error in one row rejects its call and no other. */
export function attempt(row: Row, work: () => boolean): boolean {
  try {
    return work();
  } catch (e) {
    fail(row, e);
    return false;
  }
}

/** The scores of a row's next token, or the token that the device drew from them. */
export type RowScores =
  | {
      readonly own: Scores;
      /** By the model that the request mixes in. */
      readonly mixed: Scores | undefined;
    }
  | { readonly drawn: Drawn };

/** Samples a row's next token, and answers its call with the last one. @returns whether the row continues. */
export function advance(row: Row, scores: RowScores, version: string): boolean {
  const stop = nextToken(row, scores);
  const { call } = row;
  call.watch?.tell(row.at, row.action.at(-1)!);
  if (!stop) return true;
  call.samples[row.at] = sampleOf(row, stop, version);
  if (--call.left === 0) call.resolve(call.samples);
  return false;
}

/** Draws by the row's own random stream. */
function drawFrom(row: Row, scores: RowScores, allowed: Int32Array | undefined): Drawn {
  if ("drawn" in scores) return scores.drawn;
  const { request } = row;
  const { own, mixed } = scores;
  const u = row.random.next();
  return request.mix && mixed
    ? drawMixed(own, mixed, request.mix.share, request, allowed, u)
    : draw(own, request, allowed, u);
}

function nextToken(row: Row, scores: RowScores): StopReason | undefined {
  const { request, action } = row;
  const allowed = row.choice?.ids ?? request.allowed?.[action.length];
  const d = drawFrom(row, scores, allowed);
  action.push(d.id);
  row.logp.push(d.logp);
  row.behaviour.push(d.behaviour);
  row.entropy.push(d.entropy);
  if (allowed) row.allowed.push(allowed);
  row.choice = row.choice?.next.get(d.id);
  const stop = row.ends(action);
  if (stop) return stop;
  if (row.choice?.ids.length === 0) return "stop";
  return action.length >= row.limit ? "length" : undefined;
}

function sampleOf(row: Row, stop: StopReason, version: string): Sample {
  const allowed: AllowedTokens = row.allowed;
  return {
    action: Int32Array.from(row.action),
    logp: Float32Array.from(row.logp),
    behaviour: Float32Array.from(row.behaviour),
    entropy: Float32Array.from(row.entropy),
    ...(allowed.length === row.action.length ? { allowed } : {}),
    stop,
    version,
    ...(row.reused > 0 ? { reused: row.reused } : {}),
  };
}

/** The ids in ascending order, each once. */
function ascending(ids: Int32Array): Int32Array {
  const sorted = ids.every((id, i) => i === 0 || ids[i - 1]! < id);
  return sorted ? ids : Int32Array.from(new Set(ids)).sort();
}
