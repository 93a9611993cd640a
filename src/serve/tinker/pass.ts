/** One forward or forward_backward: builds a batch and an objective from datums, and returns the outputs of each datum. */

import { type Interruptible, inSlices } from "../../common/files/slices.ts";
import { gatherIds, pack } from "../../common/tokens/pack.ts";
import { concatIds } from "../../common/tokens/sequence.ts";
import type { Batch, Row } from "../../core/batch.ts";
import type { Loss, Model } from "../../core/model.ts";
import type { Datum, ForwardBackwardOutput, ModelInput } from "../../engine/tinker/protocol.ts";
import type { Tensor } from "../../engine/tinker/tensors.ts";
import { type Fault, fault, isFault } from "./fault.ts";
import type { ChosenLoss, Element } from "./losses.ts";

/** A datum of a request, with its tokens in one array. */
interface Given {
  readonly tokens: Int32Array;
  /** Target ids at each token: one, or several. */
  readonly targets: { readonly ids: Int32Array; readonly shape: readonly number[] };
  /** Inputs by name, each of the targets' shape. */
  readonly inputs: Readonly<Record<string, Tensor>>;
}

/** @returns the parsed datum, or what is wrong with it. */
function given({ model_input, loss_fn_inputs }: Datum): Given | Fault {
  const tokens = tokensOf(model_input);
  if (isFault(tokens)) return tokens;
  const { target_tokens, ...inputs } = loss_fn_inputs;
  if (!target_tokens) return fault("loss_fn_inputs: got no target_tokens, which every loss needs.");
  const { dtype, data, shape } = target_tokens;
  if (dtype !== "int64") return fault(`target_tokens: got ${dtype}, expected int64: they are ids.`);
  return { tokens, targets: { ids: Int32Array.from(data), shape }, inputs };
}

/** The token ids of an input of text. */
export function tokensOf({ chunks }: ModelInput): Int32Array | Fault {
  const parts: Int32Array[] = [];
  for (const chunk of chunks) {
    if (chunk.type !== "encoded_text") {
      return fault(
        `model_input: got a chunk of type ${chunk.type}, expected encoded_text: this server's models read text only.`,
      );
    }
    parts.push(Int32Array.from(chunk.tokens));
  }
  return concatIds(parts);
}

const inputNames = ["weights", "logprobs", "advantages", "clip_low_threshold", "clip_high_threshold"];

/** @param vocabulary number of token ids. */
function faultInIds(where: string, ids: Int32Array, vocabulary: number): Fault | undefined {
  const strange = ids.find((id) => id < 0 || id >= vocabulary);
  if (strange === undefined) return undefined;
  return fault(
    `${where}: got the id ${strange}, expected ids from 0 to ${vocabulary - 1}. For a masked position, send any valid id and a weight of 0.`,
  );
}

/** Limits of a model's input. */
interface Readable {
  /** Number of token ids. */
  readonly vocabulary: number;
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
}

/** All parsed datums, or the fault of the first invalid one. */
function* allGiven(
  sent: readonly Datum[],
  chosen: ChosenLoss,
  readable: Readable,
): Interruptible<readonly Given[] | Fault> {
  const data: Given[] = [];
  for (const [d, datum] of sent.entries()) {
    const read = given(datum);
    const wrong = isFault(read) ? read : faultIn(read, chosen, readable);
    if (wrong) return fault(`datum ${d}: ${wrong.error}`);
    if (!isFault(read)) data.push(read);
    yield;
  }
  return data;
}

/** The fault of a datum, if it is invalid. */
function faultIn(
  { tokens, targets, inputs }: Given,
  { name, needs }: ChosenLoss,
  { vocabulary, contextTokens }: Readable,
): Fault | undefined {
  // one more for the target of the last position
  if (tokens.length + 1 > contextTokens) {
    return fault(
      `model_input: got ${tokens.length} tokens, expected ${contextTokens - 1} at most, which is what the model has room for.`,
    );
  }
  const [places = 0, width = 1, ...more] = targets.shape;
  const count = targets.shape.reduce((a, b) => a * b, 1);
  if (places !== tokens.length || more.length > 0 || count !== targets.ids.length || count === 0) {
    return fault(
      `target_tokens: got ${targets.ids.length} of shape [${targets.shape}] for ${tokens.length} tokens, expected one for each token, or several of shape [${tokens.length}, K].`,
    );
  }
  if (width !== 1 && name !== "cross_entropy") {
    return fault(
      `target_tokens: got ${width} at a token, expected one for ${name}. Only cross_entropy takes several.`,
    );
  }
  const strange =
    faultInIds("model_input", tokens, vocabulary) ?? faultInIds("target_tokens", targets.ids, vocabulary);
  if (strange) return strange;
  const missing = needs.find((input) => !Object.hasOwn(inputs, input));
  if (missing !== undefined) return fault(`loss_fn_inputs: got no ${missing}, which ${name} needs.`);
  for (const [input, { data }] of Object.entries(inputs)) {
    if (!inputNames.includes(input)) {
      return fault(
        `loss_fn_inputs: got ${JSON.stringify(input)}, expected target_tokens, ${inputNames.join(", ")}. Leave it out.`,
      );
    }
    if (data.length !== count) {
      return fault(`${input}: got ${data.length} numbers, expected ${count}, one for each target.`);
    }
    if (!data.every(Number.isFinite)) {
      return fault(
        `${input}: got a number that is not finite, expected finite ones. Send 0 for a masked position.`,
      );
    }
  }
  return undefined;
}

/** Whether the targets are the datum's own next tokens, whose log-probabilities the forward pass already returns. */
const isShifted = ({ tokens, targets }: Given): boolean =>
  targets.ids.length === tokens.length &&
  targets.ids.every((id, i, ids) => i + 1 === ids.length || id === tokens[i + 1]);

function* rowsOf(data: readonly Given[]): Interruptible<readonly Row[]> {
  const rows: Row[] = [];
  for (const [d, one] of data.entries()) {
    rows.push(rowOf(one, d));
    yield;
  }
  return rows;
}

/** A batch row whose targets are all tokens after the first; the last target is appended to the datum's tokens. */
function rowOf({ tokens, targets }: Given, index: number): Row {
  const N = tokens.length;
  const zeros = new Float32Array(N);
  const places = new Int32Array(N);
  for (let i = 0; i < N; i++) places[i] = i + 1;
  return {
    info: {
      trajectory: `${index}`,
      task: `${index}`,
      role: "agent",
      model: "",
      version: "",
      origin: "logged",
      context: "rewritten",
      unit: `${index}`,
      group: `${index}`,
      from: 0,
    },
    tokens: concatIds([tokens, targets.ids.subarray(targets.ids.length - 1)]),
    targets: places,
    turn: new Int32Array(N),
    logp: zeros,
    behaviour: zeros,
    advantage: zeros,
    weight: new Float32Array(N).fill(1),
  };
}

/** Most elements of a batch. Datums are padded to the widest one, so a small request could otherwise allocate gigabytes. */
const mostElements = 2 ** 26;

/** Elements of every datum, `width` per token; a datum with fewer targets is padded with elements of weight 0 at each token. */
interface Elements {
  readonly width: number;
  readonly ids: Int32Array;
  readonly filled: Uint8Array;
  readonly inputs: Readonly<Record<string, Float32Array>>;
}

/** @param width most targets at a token. */
function* elementsOf(data: readonly Given[], places: number, width: number): Interruptible<Elements> {
  const ids = new Int32Array(places * width);
  const filled = new Uint8Array(places * width);
  const names = new Set(data.flatMap(({ inputs }) => Object.keys(inputs)));
  const inputs = Object.fromEntries(
    [...names].map((name) => [name, new Float32Array(places * width).fill(Number.NaN)]),
  );
  let at = 0;
  for (const { tokens, targets, inputs: own } of data) {
    const K = targets.shape[1] ?? 1;
    const place = (i: number): number => at + Math.floor(i / K) * width + (i % K);
    targets.ids.forEach((id, i) => {
      ids[place(i)] = id;
      filled[place(i)] = 1;
    });
    for (const [name, { data: numbers }] of Object.entries(own)) {
      const into = inputs[name]!;
      for (let i = 0; i < targets.ids.length; i++) into[place(i)] = numbers[i]!;
    }
    at += tokens.length * width;
    yield;
  }
  return { width, ids, filled, inputs };
}

/** Outputs collected from the passes over parts of the batch. */
interface Left {
  readonly logprobs: Float32Array;
  readonly losses: Float32Array;
}

/** The sum of a loss over all elements of a request, without averaging, as in the official service. */
function objectiveOf(
  { width, ids, filled, inputs }: Elements,
  direct: boolean,
  chosen: ChosenLoss,
  left: Left,
): Loss<undefined> {
  const or = (name: string, e: number, otherwise: number): number => {
    const x = inputs[name]?.[e];
    return x === undefined || Number.isNaN(x) ? otherwise : x;
  };
  return {
    name: chosen.name,
    together: "row",
    wants: (_aux, { index_A }) => (direct ? {} : { at: { ids: gatherIds(ids, index_A, width), width } }),
    evaluate({ logp, at }, { index_A }) {
      const p_E = direct ? logp : (at ?? new Float32Array());
      const slopes = new Float32Array(p_E.length);
      let sum = 0;
      for (let i = 0; i < p_E.length; i++) {
        const e = index_A[Math.floor(i / width)]! * width + (i % width);
        if (filled[e] === 0) continue;
        const p = p_E[i]!;
        const x: Element = {
          p,
          q: or("logprobs", e, 0),
          advantage: or("advantages", e, 0),
          weight: or("weights", e, 1),
          low: or("clip_low_threshold", e, chosen.low),
          high: or("clip_high_threshold", e, chosen.high),
          beta: chosen.beta,
        };
        const [loss, slope] = chosen.loss(x);
        sum += loss;
        slopes[i] = slope;
        left.logprobs[e] = p;
        left.losses[e] = loss;
      }
      return { loss: sum, cotangents: direct ? { logp: slopes } : { at: slopes }, stats: { loss: sum } };
    },
  };
}

/**
 * Runs datums through a model. With `learn`, the gradient of the summed losses is added to the model's accumulated gradient;
 * without it, the model does not change.
 */
export async function pass(
  model: Pick<Model, "accumulate" | "score">,
  sent: readonly Datum[],
  chosen: ChosenLoss,
  {
    learn,
    vocabulary,
    contextTokens,
  }: { readonly learn: boolean; readonly vocabulary: number; readonly contextTokens: number },
): Promise<ForwardBackwardOutput | Fault> {
  if (sent.length === 0) return fault("data: got no datum, expected at least one.");
  const data = await inSlices(allGiven(sent, chosen, { vocabulary, contextTokens }));
  if (isFault(data)) return data;
  const width = Math.max(...data.map(({ targets }) => targets.shape[1] ?? 1));
  const places = data.reduce((n, { tokens }) => n + tokens.length, 0);
  if (places * width > mostElements) {
    return fault(
      `data: got ${places} tokens and up to ${width} targets at one, expected a product of at most ${mostElements}. Send datums with many targets by themselves.`,
    );
  }
  const elements = await inSlices(elementsOf(data, places, width));
  const direct = data.every(isShifted);
  const batch: Batch = pack(
    await inSlices(rowsOf(data)),
    data.map((_, d) => ({ id: `${d}`, group: `${d}`, members: [`${d}`] })),
  );
  const left = {
    logprobs: new Float32Array(elements.ids.length),
    losses: new Float32Array(elements.ids.length),
  };
  const objective = objectiveOf(elements, direct, chosen, left);
  let loss: number;
  if (learn) {
    loss = (await model.accumulate(batch, objective, undefined)).loss ?? 0;
  } else {
    loss = objective.evaluate(
      await model.score(batch, objective.wants(undefined, batch)),
      batch,
      undefined,
    ).loss;
  }
  const loss_fn_outputs = await inSlices(outputsOf(data, elements.width, left));
  return { loss_fn_output_type: "ArrayRecord", loss_fn_outputs, metrics: { "loss:sum": loss } };
}

/** Splits the collected outputs by datum. */
function* outputsOf(
  data: readonly Given[],
  width: number,
  left: Left,
): Interruptible<ForwardBackwardOutput["loss_fn_outputs"]> {
  const outputs: ForwardBackwardOutput["loss_fn_outputs"] = [];
  let from = 0;
  for (const { tokens, targets } of data) {
    const { ids, shape } = targets;
    const K = shape[1] ?? 1;
    const own = (xs: Float32Array): Tensor => {
      const numbers = new Float32Array(ids.length);
      for (let i = 0; i < numbers.length; i++) numbers[i] = xs[from + Math.floor(i / K) * width + (i % K)]!;
      return { dtype: "float32", data: numbers, shape };
    };
    outputs.push({ logprobs: own(left.logprobs), elementwise_loss: own(left.losses) });
    from += tokens.length * width;
    yield;
  }
  return outputs;
}
