/** Measures server behaviour that the API does not specify, on a temporary model. */
import { z } from "zod";
import { concatIds } from "../../common/tokens/sequence.ts";
import type { TokenRows } from "../../core/batch.ts";
import type { Codec } from "../../core/model.ts";
import { atTargets, carrierData, type Reduction, scoringData, wholeRow } from "./datum.ts";
import type { Datum } from "./protocol.ts";
import { type Measured, nearer, responses } from "./responses.ts";
import { openSampler, type Sampler } from "./sampler.ts";
import { distance, staleSampler } from "./samplerSync.ts";
import type { Session } from "./session.ts";
import { mostWords, severalData } from "./topKTargets.ts";
import { openTrainer, type Trainer, type TrainerOptions } from "./trainer.ts";

/** Results of the probe. A response is the gain of the targets' log-probability in a step, relative to that of the plain row. */
export const findings = z.object({
  /** Response to the same row twice: 2 if losses are summed, 1 if they are divided by the number of rows. */
  twice: z.number(),
  /** Response to the same targets in a row {@link longer} times as long: 1, or 1 over that if divided by the length. */
  long: z.number(),
  /** Standard errors of these two: above 0.01 where the server's numbers are coarse. */
  error: z.object({ twice: z.number(), long: z.number() }).default({ twice: 0, long: 0 }),
  /** Format in which the server's log-probabilities come, by the bits that they use. */
  numbers: z.enum(["bfloat16", "float16", "float32"]).default("float32"),
  reduction: z.enum(["sum", "sequence-mean", "unclear"]),
  /** The same two, sent so as to compensate for the server's division: 2 and 1 as in the local engine. */
  equalised: z.object({ twice: z.number(), long: z.number() }).optional(),
  /** Response under a gradient-norm limit that lets nothing through: 0 if the server clips. */
  clipped: z.number(),
  /** Response of `ppo` at a ratio of 1.5 with the thresholds 0.8 and 1.2: 0 if these bound the ratio. Absent: no such loss. */
  beyond: z.number().optional(),
  /** Whether `cross_entropy` accepts several targets per position. */
  several: z.boolean().default(false),
  /** Whether a snapshot keeps its weights while its model keeps training, and sampling from it does not change the model. */
  keeps: z.boolean().default(true),
  /** Largest difference between the log-probabilities of the trainer and of its sampler, nats. */
  samplerGap: z.number(),
  /**
   * The same for the trainer's log-probabilities before the steps: larger if the sampler has the current weights. Absent where
   * the server does not tell log-probabilities of prompts.
   */
  staleGap: z.number().optional(),
  /** Largest difference between the log-probabilities reported with a sample at temperature 0.5 and those at temperature 1. */
  cooled: z.number(),
});
export type Findings = z.output<typeof findings>;

const targets = 7;
const longer = 3;
/** Intended gain in log-probability of all targets from a plain step, nats; {@link responses} takes a larger one where readings scatter. */
const aim = 0.3;
/** AdamW's eps, large enough that a step follows the gradient, not its sign. */
const epsilon = 1e3;
const share = 0.01;
/** A prime stride: the ids of a row lie far apart and rarely coincide. */
const spread = 7919;
/** Number of samples of one token. */
const draws = 6;

/** Datums, loss and settings of a backward pass. */
interface Sent {
  readonly data: readonly Datum[];
  readonly lossFn?: string;
  readonly config?: Readonly<Record<string, number>>;
}

function rowsOf(row: Int32Array, copies: number): TokenRows {
  const each = Int32Array.from({ length: targets }, (_, i) => i + 1);
  return {
    tokens_N: concatIds(Array.from({ length: copies }, () => row)),
    rowOffset: Int32Array.from({ length: copies + 1 }, (_, r) => r * row.length),
    target_A: concatIds(Array.from({ length: copies }, (_, r) => each.map((at) => at + r * row.length))),
    targetOffset: Int32Array.from({ length: copies + 1 }, (_, r) => r * targets),
  };
}

function reductionOf(twice: Measured, long: Measured): Findings["reduction"] {
  const byCount = nearer(twice, [2, false], [1, true]);
  const byLength = nearer(long, [1, false], [1 / longer, true]);
  if (byCount === undefined || byCount !== byLength) return "unclear";
  return byCount ? "sequence-mean" : "sum";
}

/** The plain row for `ppo`, at a ratio of 1.5. */
function past(rows: TokenRows, logp: Float32Array): Sent {
  const old = logp.map((x) => x - Math.log(1.5));
  const data = carrierData(
    rows,
    old,
    old.map(() => -share),
    "sum",
    1,
  );
  return { data, lossFn: "ppo", config: { clip_low_threshold: 0.8, clip_high_threshold: 1.2 } };
}

/**
 * Difference between the log-probabilities reported with samples at a temperature and those at temperature 1, which `read` gives of
 * every token of a sequence. A sample is one token, requested in the form of a score, since servers that compile a program per
 * shape take half a minute for one.
 */
async function gapOfSamples(
  sampler: Sampler,
  prompt: Int32Array,
  temperature: number,
  read: (tokens: Int32Array) => Promise<Float32Array>,
): Promise<number> {
  const { sequences } = await sampler.ask(prompt, {
    num_samples: draws,
    prompt_logprobs: true,
    sampling_params: { max_tokens: 1, temperature, seed: 1 },
  });
  const gaps = sequences.map(async ({ tokens, logprobs }) => {
    const own = await read(concatIds([prompt, tokens]));
    return distance(Float32Array.from(logprobs ?? []), own.subarray(prompt.length));
  });
  return Math.max(0, ...(await Promise.all(gaps)));
}

/** Whether `cross_entropy` accepts two targets per position, and returns the first one's log-probability for both when they are equal. */
async function takesSeveral(trainer: Trainer, rows: TokenRows): Promise<boolean> {
  const ids = Int32Array.from({ length: 2 * targets }, (_, i) => rows.tokens_N[(i >> 1) + 1]!);
  const pair = { ids, width: 2 };
  try {
    const logp = atTargets(rows, await trainer.pass(scoringData(rows), "cross_entropy", true));
    const both = atTargets(
      rows,
      await trainer.pass(severalData(rows, pair), "cross_entropy", true),
      pair.width,
    );
    return (
      distance(
        both,
        Float32Array.from(both, (_, i) => logp[i >> 1]!),
      ) < apart
    );
  } catch {
    return false;
  }
}

/** The shortest format that holds every value exactly. */
function numbersOf(xs: readonly number[]): Findings["numbers"] {
  const bits = new Uint32Array(Float32Array.from(xs).buffer);
  if (bits.every((word) => (word & 0xffff) === 0)) return "bfloat16";
  return bits.every((word) => (word & 0x1fff) === 0) ? "float16" : "float32";
}

const isNearer = (xs: Float32Array, to: Float32Array, than: Float32Array): boolean =>
  distance(xs, to) <= distance(xs, than);
const sum = (xs: Float32Array): number => xs.reduce((a, b) => a + b, 0);

/**
 * About twenty steps on a new adapter of the same base and rank, and up to a hundred where the server's numbers are coarse.
 * @throws WhetstoneError `engine.failed` where the server does.
 */
export async function probeServer(
  session: Session,
  options: TrainerOptions,
  codec: Codec,
): Promise<Findings> {
  // ids from all over the vocabulary: the tokens of a text depend on the tokenizer, which may know none of its words
  const tokens = Int32Array.from(
    { length: longer * targets + 1 },
    (_, i) => 1 + ((i * spread) % (codec.vocabulary - 1)),
  );
  const [short, long] = [tokens.subarray(0, targets + 1), tokens];
  const trainers: Trainer[] = [];
  async function another(): Promise<Trainer> {
    const made = await openTrainer(session, options);
    trainers.push(made);
    return made;
  }
  const trainer = await another();
  const open = async () => openSampler(session, await trainer.sampler(), codec);
  try {
    const one = rowsOf(short, 1);
    const forward = async (): Promise<Float32Array> =>
      atTargets(one, await trainer.pass(scoringData(one), "cross_entropy", true));
    const first = await open();
    const before = await forward();
    let logp = before;
    const rate = { value: 1 };

    /** Backward, step and forward, sent at once. @returns by how much the targets' log-probability has risen. */
    async function rise(data: Sent, clip = 0): Promise<number> {
      const { lossFn = "importance_sampling", config = {} } = data;
      const [, , seen] = await Promise.all([
        trainer.pass(data.data, lossFn, false, config),
        trainer.step({
          learning_rate: rate.value * epsilon,
          beta1: 0,
          beta2: 0,
          eps: epsilon,
          weight_decay: 0,
          grad_clip_norm: clip,
        }),
        forward(),
      ]);
      const last = logp;
      logp = seen;
      return sum(logp) - sum(last);
    }
    const carried = (row: Int32Array, copies: number, reduction: Reduction = "sum"): Sent => {
      const rows = rowsOf(row, copies);
      const all = Float32Array.from({ length: copies * targets }, (_, i) => logp[i % targets]!);
      // the compensation factor is removed again, so that the steps stay as small as the plain ones
      const each = reduction === "sum" ? share : share / targets;
      return {
        data: carrierData(
          rows,
          all,
          all.map(() => -each),
          reduction,
          copies,
        ),
      };
    };

    const plain = () => rise(carried(short, 1));
    const response = await responses({ plain, rate }, aim);
    const twice = await response.of(() => rise(carried(short, 2)));
    const longRow = await response.of(() => rise(carried(long, 1)));
    const clipped = await response.of(() => rise(carried(short, 1), 1e-9));
    const reduction = reductionOf(twice, longRow);
    const even = async (row: Int32Array, copies: number, by: Reduction) =>
      (await response.of(() => rise(carried(row, copies, by)))).value;
    const equalised =
      reduction === "unclear"
        ? undefined
        : { twice: await even(short, 2, reduction), long: await even(long, 1, reduction) };

    const now = await open();
    /** ln p of every token of a sequence: the sampler's, or the trainer's where that does not tell. */
    const read = async (all: Int32Array): Promise<Float32Array> =>
      (await now.logp(all)) ??
      Float32Array.of(
        Number.NaN,
        ...(await trainer.pass(scoringData(wholeRow(all)), "cross_entropy", true))[0]!,
      );
    const [fresh, cooled] = await Promise.all([now.score(one), gapOfSamples(now, short, 0.5, read)]);
    const samplerGap = fresh ? distance(fresh, logp) : await gapOfSamples(now, short, 1, read);
    const staleGap = fresh && distance(fresh, before);
    if (staleGap !== undefined && samplerGap > staleGap + apart) throw staleSampler(samplerGap, staleGap);
    const old = await first.score(one);
    const left = await forward();
    const keeps = old !== undefined && isNearer(old, before, logp) && isNearer(left, logp, before);
    logp = left;
    await plain();

    // last, since a server may reject these before it counts their sequence number, and nothing can follow then
    const beyond = await response.of(() => rise(past(one, logp))).catch(() => undefined);
    const several = await takesSeveral(beyond === undefined ? await another() : trainer, one);
    return {
      twice: twice.value,
      long: longRow.value,
      error: { twice: twice.error, long: longRow.error },
      numbers: numbersOf([...before, ...logp]),
      reduction,
      ...(equalised && { equalised }),
      clipped: clipped.value,
      several,
      ...(beyond && { beyond: beyond.value }),
      keeps,
      samplerGap,
      ...(staleGap !== undefined && { staleGap }),
      cooled,
    };
  } finally {
    await Promise.all(trainers.map((one) => one.unload()));
  }
}

/** Log-probabilities further apart than this differ by more than the noise of 16-bit numbers, nats. */
const apart = 0.05;
const two = (x: number): string => String(Number(x.toFixed(2)));
const nats = (x: number): string => `${x.toExponential(0)} nats`;

/** The results in plain text lines. */
export function linesOf(f: Findings, url: string): string[] {
  const { equalised } = f;
  const sums =
    f.reduction === "sum"
      ? "adds losses up"
      : f.reduction === "sequence-mean"
        ? "divides losses by the length and the number of sequences; made up for"
        : "neither adds losses up nor divides them by lengths and numbers";
  const after = equalised ? `; as we send it ${two(equalised.twice)} and ${two(equalised.long)}` : "";
  const give = (x: number, error: number): string => `${two(x)}${error > 0.01 ? ` ± ${two(2 * error)}` : ""}`;
  const raised = `twice the row ${give(f.twice, f.error.twice)} times the gradient, a row ${longer} times as long ${give(f.long, f.error.long)}`;
  const bounds = "clip thresholds of its own losses (ours are computed here)";
  return [
    `Server ${url}, tried on a model that is gone again:`,
    `  reduction: ${sums} (${raised}${after})`,
    `  numbers: log-probabilities in ${f.numbers}`,
    `  gradient clip: ${f.clipped < 0.5 ? "kept" : "ignored; steps are taken without one"} (${two(f.clipped)} of the step left under a limit near 0)`,
    f.beyond === undefined
      ? `  ${bounds}: it has no ppo`
      : `  ${bounds}: ${f.beyond < 0.5 ? "bounds of the ratio" : "not bounds of the ratio"} (${two(f.beyond)} of the step left beyond them)`,
    f.several && f.reduction === "sum"
      ? `  several targets at a token: taken; log-probabilities at given ids come from them, and entropy and the top k of vocabularies of up to ${mostWords} tokens`
      : "  several targets at a token: not to be had; methods that need entropy, the top k or given ids are refused",
    `  log-probabilities of samples: ${f.cooled < apart + 3 * f.samplerGap ? "of temperature 1, whatever they were drawn with" : "of what they were drawn from"} (${nats(f.cooled)} from temperature 1)`,
    "  LoRA alpha: the server's own, which the API does not tell; an exported adapter names it",
    f.keeps
      ? "  snapshots: keep their weights while a model learns on"
      : f.staleGap === undefined
        ? "  snapshots: not known to keep their weights; frozen weights, and rollouts ahead of learning, get a model of their own"
        : "  snapshots: lose their weights once a model learns on, or set it back; frozen weights, and rollouts ahead of learning, get a model of their own",
    f.staleGap === undefined
      ? `  sampler: tells no log-probabilities of prompts, so that nobody checks after a step that it has the new weights; those of its samples are ${nats(f.samplerGap)} from the trainer's, and samplerGap.max of each iteration says whether they stay there`
      : `  sampler: ${nats(f.samplerGap)} from the trainer of now, ${nats(f.staleGap)} from that of before the steps`,
  ];
}
