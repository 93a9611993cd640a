/** A softmax table per context: every gradient is exact, every run takes milliseconds. */
import { isDeepStrictEqual } from "node:util";
import { adamwDefaults, adamwStep } from "../../common/statistics/adamw.ts";
import type { Batch, TokenRows } from "../../core/batch.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type {
  Capability,
  Frozen,
  GradientId,
  Loss,
  Model,
  Sample,
  SampleRequest,
  StepRule,
  StepStats,
} from "../../core/model.ts";
import type { Outputs, Wanted } from "../../core/outputs.ts";
import type { ModelId, Stats } from "../../core/types.ts";
import { backward } from "./backward.ts";
import { checkpointFile, damaged, readCheckpoint, writeCheckpoint } from "./checkpoint.ts";
import type { WordCodec } from "./codec.ts";
import type { Reading } from "./reading.ts";
import { type After, sampleOne } from "./sample.ts";
import {
  blendWeights,
  copyWeights,
  type Features,
  outputsOf,
  type Prior,
  type Weights,
  weightsName,
} from "./weights.ts";

export const tabularCan: ReadonlySet<Capability> = new Set<Capability>([
  "tokens",
  "mix",
  "logp",
  "entropy",
  "topk",
  "at",
  "heads",
  "train",
  "freeze",
  "fork",
  "gradients",
]);

const mainGradient: GradientId = "main";
const gradientName = (id: GradientId): string => `gradient.${id}`;
const isGradient = (name: string): boolean => name.startsWith("gradient.");

/** Key of the weights in a model or a frozen model; a property, so that it also works through a proxy. */
const held = Symbol("weights of a tabular model");

interface Holder {
  readonly [held]: Weights;
}

/** A model whose numbers can be inspected. */
export interface TabularModel extends Model, Holder {
  readonly codec: WordCodec;
  readonly weights: Weights;
  readonly gradients: NonNullable<Model["gradients"]>;
  /** The gradient of the loss in a buffer, by context, [writable tokens] each. For tests and exact checks. */
  gradientByContext(id?: GradientId): Map<string, Float64Array>;
}

const afterOf =
  (weights: Weights): After =>
  (prefix) =>
    weights.distribution(weights.situationOf(prefix));

/** Acting with given weights: the part that models and frozen models share. */
function actingBy(weights: Weights, version: () => string) {
  const after = afterOf(weights);
  return {
    [held]: weights,
    codec: weights.codec,
    sample: async (requests: readonly SampleRequest[]): Promise<Sample[]> =>
      requests.map((request) => {
        const mixedIn = request.mix && afterOf(weightsOf(request.mix.of));
        return sampleOne(request, weights.codec, after, version(), mixedIn);
      }),
    score: async (rows: TokenRows, want: Wanted = {}): Promise<Outputs> => outputsOf(weights, rows, want),
    dispose: async (): Promise<void> => {},
  };
}

/** @param id the name in the run. @param weights owned by the model from now on. @param startSteps steps already taken. */
export function tabularModel(
  id: ModelId,
  weights: Weights,
  contextTokens: number,
  startSteps = 0,
): TabularModel {
  let steps = startSteps;
  const version = (): string => String(steps);

  async function accumulate<A>(
    batch: Batch,
    objective: Loss<A>,
    aux: A,
    into: GradientId = mainGradient,
  ): Promise<Stats> {
    const wanted = objective.wants(aux, batch);
    const outputs = outputsOf(weights, batch, wanted);
    const { cotangents, stats } = objective.evaluate(outputs, batch, aux);
    backward(weights, batch, wanted, outputs, cotangents, gradientName(into));
    return stats;
  }

  async function step(rule: StepRule): Promise<StepStats> {
    const { clip, betas, epsilon = adamwDefaults.epsilon, weightDecay = 0, pull, optimiser = "adamw" } = rule;
    const toward = pull && weightsOf(pull.toward);
    const main = gradientName(mainGradient);
    let square = 0;
    for (const table of weights.parts.values()) for (const g of table.array(main)) square += g * g;
    const norm = Math.sqrt(square);
    if (!Number.isFinite(norm)) {
      throw new WhetstoneError("value.notFinite", {
        where: "tabular engine, step",
        got: `a gradient of norm ${norm}`,
        expected: "finite gradients",
        fix: "Look for rewards or log-probabilities that are NaN or infinite.",
      });
    }
    const scale = clip !== undefined && norm > clip ? clip / norm : 1;
    steps++;
    for (const [name, table] of weights.parts) {
      const numbers = table.array(weightsName);
      const gradient = table.array(main).map((g) => g * scale);
      const group = Object.entries(rule.groups ?? {}).find(([part]) => name.includes(part))?.[1];
      const learningRate = group?.learningRate ?? rule.learningRate;
      if (optimiser === "sgd") {
        gradient.forEach((g, i) => {
          numbers[i] = (1 - learningRate * weightDecay) * numbers[i]! - learningRate * g;
        });
        continue;
      }
      adamwStep(numbers, gradient, table.array("m"), table.array("v"), {
        learningRate,
        beta1: betas?.[0] ?? adamwDefaults.beta1,
        beta2: betas?.[1] ?? adamwDefaults.beta2,
        epsilon,
        weightDecay,
        step: steps,
      });
    }
    weights.changed();
    if (pull && toward) blendWeights(weights, toward, rule.learningRate * pull.strength);
    for (const table of weights.parts.values())
      for (const n of table.names()) if (isGradient(n)) table.drop(n);
    return { gradientNorm: norm };
  }

  async function load(folder: string): Promise<void> {
    const read = await readCheckpoint(folder, weights.prior, weights.reading, weights.features);
    const file = checkpointFile(folder);
    if (read.contextTokens !== contextTokens || read.weights.context !== weights.context) {
      throw damaged(file, "a model of another shape");
    }
    if (!isDeepStrictEqual(read.weights.codec.words, weights.codec.words)) {
      throw damaged(file, "the words of another model");
    }
    weights.parts.clear();
    for (const [name, table] of read.weights.parts) weights.parts.set(name, table);
    weights.changed();
    steps = read.steps;
  }

  return {
    ...actingBy(weights, version),
    id,
    get version() {
      return version();
    },
    can: tabularCan,
    contextTokens,
    weights,
    /** Grows with the contexts seen. */
    get parameters() {
      let n = 0;
      for (const table of weights.parts.values()) n += table.rows.size * table.width;
      return n;
    },
    accumulate,
    step,
    freeze: async () =>
      tabularFrozen(
        copyWeights(weights, (name) => name === weightsName),
        version(),
        contextTokens,
      ),
    fork: async (optimiser) => {
      const copy = copyWeights(
        weights,
        (name) => name === weightsName || (optimiser === "copy" && !isGradient(name)),
      );
      return tabularModel(id, copy, contextTokens, optimiser === "copy" ? steps : 0);
    },
    gradients: {
      dot: async (a, b) => {
        let sum = 0;
        for (const table of weights.parts.values()) {
          const right = table.array(gradientName(b));
          table.array(gradientName(a)).forEach((x, i) => {
            sum += x * right[i]!;
          });
        }
        return sum;
      },
      combine: async (sum) => {
        for (const table of weights.parts.values()) {
          const out = new Float64Array(table.rows.size * table.width);
          for (const [gradient, factor] of Object.entries(sum)) {
            table.array(gradientName(gradient)).forEach((g, i) => {
              out[i]! += factor * g;
            });
          }
          table.array(gradientName(mainGradient)).set(out);
        }
      },
    },
    gradientByContext: (gradientId = mainGradient) => {
      const table = weights.part("logits");
      const gradient = table.array(gradientName(gradientId));
      const rows = [...table.rows].map(([context, row]): [string, Float64Array] => [
        context,
        gradient.slice(row * table.width, (row + 1) * table.width),
      ]);
      return new Map(rows);
    },
    save: (folder) => writeCheckpoint(folder, { weights, contextTokens, steps }),
    load,
  };
}

function tabularFrozen(weights: Weights, startVersion: string, contextTokens: number): Frozen & Holder {
  let version = startVersion;
  return {
    ...actingBy(weights, () => version),
    get version() {
      return version;
    },
    blend: async (model, rate) => {
      blendWeights(weights, weightsOf(model), rate);
      version = `${version}~${model.version}`.slice(-80);
    },
    // as a model without steps
    save: (folder) => writeCheckpoint(folder, { weights, contextTokens, steps: 0 }),
  };
}

/** Opens a model that `save` wrote. */
export async function openTabular(
  id: ModelId,
  folder: string,
  prior?: Prior,
  reading?: Reading,
  features?: Features,
): Promise<TabularModel> {
  const { weights, contextTokens, steps } = await readCheckpoint(folder, prior, reading, features);
  return tabularModel(id, weights, contextTokens, steps);
}

const holdsWeights = (of: Model | Frozen): of is (Model | Frozen) & Holder => held in of;

function weightsOf(of: Model | Frozen): Weights {
  if (holdsWeights(of)) return of[held];
  throw new WhetstoneError("capability.missing", {
    where: "tabular engine, blend",
    got: "a model of another engine",
    expected: "a tabular one",
    fix: "Blend models of one engine only.",
  });
}
