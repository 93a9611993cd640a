/** A softmax table per context: every gradient is exact, every run takes milliseconds. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { adamwDefaults, adamwStep } from "../../core/adamw.ts";
import type { Batch, TokenRows } from "../../core/batch.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type {
  Capability,
  Frozen,
  GradientId,
  Model,
  Objective,
  Sample,
  SampleRequest,
  StepRule,
  StepStats,
} from "../../core/model.ts";
import type { Outputs, Wanted } from "../../core/outputs.ts";
import type { ModelId, Stats } from "../../core/words.ts";
import { backward } from "./backward.ts";
import { type WordCodec, wordCodec } from "./codec.ts";
import { sampleOne } from "./sample.ts";
import { Table } from "./table.ts";
import { Weights, weightsName } from "./weights.ts";

export const tabularCan: ReadonlySet<Capability> = new Set<Capability>([
  "tokens",
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
const fileName = "tabular.json";

/** What a tabular model is saved as. */
interface Saved {
  readonly format: 1;
  readonly words: readonly string[];
  /** null: the whole prefix. */
  readonly context: number | null;
  readonly contextTokens: number;
  readonly steps: number;
  readonly parts: Readonly<
    Record<
      string,
      { readonly contexts: readonly string[]; readonly arrays: Readonly<Record<string, readonly number[]>> }
    >
  >;
}

abstract class Acting {
  readonly weights: Weights;
  constructor(weights: Weights) {
    this.weights = weights;
  }
  abstract get version(): string;
  get codec(): WordCodec {
    return this.weights.codec;
  }
  // arrows: a seat may hold on to the function alone
  readonly sample = async (requests: readonly SampleRequest[]): Promise<Sample[]> => {
    const logits = (prefix: Int32Array): Float64Array =>
      this.weights.read("logits", this.weights.keyOf(prefix));
    return requests.map((request) => sampleOne(request, this.codec, logits, this.version));
  };
  readonly score = async (rows: TokenRows, want: Wanted = {}): Promise<Outputs> =>
    this.weights.outputs(rows, want);
  async dispose(): Promise<void> {}
}

export class TabularFrozen extends Acting implements Frozen {
  #version: string;
  readonly #contextTokens: number;
  constructor(weights: Weights, version: string, contextTokens: number) {
    super(weights);
    this.#version = version;
    this.#contextTokens = contextTokens;
  }
  get version(): string {
    return this.#version;
  }
  async blend(model: Model, rate: number): Promise<void> {
    this.weights.blend(ownKind(model).weights, rate);
    this.#version = `${this.#version}~${model.version}`.slice(-80);
  }
  /** As a model without steps. */
  async save(folder: string): Promise<void> {
    await writeSaved(folder, this.weights, this.#contextTokens, 0);
  }
}

export class TabularModel extends Acting implements Model {
  readonly id: ModelId;
  readonly can = tabularCan;
  readonly contextTokens: number;
  #weights: Weights;
  #steps: number;

  constructor(id: ModelId, weights: Weights, contextTokens: number, steps = 0) {
    super(weights);
    this.id = id;
    this.#weights = weights;
    this.contextTokens = contextTokens;
    this.#steps = steps;
  }

  get version(): string {
    return String(this.#steps);
  }

  /** Grows with the contexts seen. */
  get parameters(): number {
    let n = 0;
    for (const table of this.#weights.parts.values()) n += table.rows.size * table.width;
    return n;
  }

  async accumulate<A>(
    batch: Batch,
    objective: Objective<A>,
    aux: A,
    into: GradientId = mainGradient,
  ): Promise<Stats> {
    const wanted = objective.wants(aux, batch);
    const outputs = this.#weights.outputs(batch, wanted);
    const { cotangents, stats } = objective.evaluate(outputs, batch, aux);
    backward(this.#weights, batch, wanted, outputs, cotangents, gradientName(into));
    return stats;
  }

  async step(rule: StepRule): Promise<StepStats> {
    const { clip, betas, epsilon = adamwDefaults.epsilon, weightDecay = 0, pull, optimiser = "adamw" } = rule;
    const main = gradientName(mainGradient);
    let square = 0;
    for (const table of this.#weights.parts.values()) for (const g of table.array(main)) square += g * g;
    const norm = Math.sqrt(square);
    if (!Number.isFinite(norm)) {
      throw new WhetstoneError("value.notFinite", {
        where: "tabular engine, step",
        got: `a gradient of norm ${norm}`,
        expected: "finite gradients",
        mend: "Look for rewards or log-probabilities that are NaN or infinite.",
      });
    }
    const scale = clip !== undefined && norm > clip ? clip / norm : 1;
    this.#steps++;
    for (const [name, table] of this.#weights.parts) {
      const weights = table.array(weightsName);
      const gradient = table.array(main).map((g) => g * scale);
      const group = Object.entries(rule.groups ?? {}).find(([part]) => name.includes(part))?.[1];
      const learningRate = group?.learningRate ?? rule.learningRate;
      if (optimiser === "sgd") {
        gradient.forEach((g, i) => {
          weights[i] = (1 - learningRate * weightDecay) * weights[i]! - learningRate * g;
        });
        continue;
      }
      adamwStep(weights, gradient, table.array("m"), table.array("v"), {
        learningRate,
        beta1: betas?.[0] ?? adamwDefaults.beta1,
        beta2: betas?.[1] ?? adamwDefaults.beta2,
        epsilon,
        weightDecay,
        step: this.#steps,
      });
    }
    if (pull) this.#weights.blend(frozenOwnKind(pull.toward).weights, rule.learningRate * pull.strength);
    for (const table of this.#weights.parts.values())
      for (const n of table.names()) if (isGradient(n)) table.drop(n);
    return { gradientNorm: norm };
  }

  async freeze(): Promise<TabularFrozen> {
    return new TabularFrozen(
      this.#weights.copy((name) => name === weightsName),
      this.version,
      this.contextTokens,
    );
  }

  async fork(optimiser: "copy" | "fresh"): Promise<TabularModel> {
    const weights = this.#weights.copy(
      (name) => name === weightsName || (optimiser === "copy" && !isGradient(name)),
    );
    return new TabularModel(this.id, weights, this.contextTokens, optimiser === "copy" ? this.#steps : 0);
  }

  readonly gradients = {
    dot: async (a: GradientId, b: GradientId): Promise<number> => {
      let sum = 0;
      for (const table of this.#weights.parts.values()) {
        const right = table.array(gradientName(b));
        table.array(gradientName(a)).forEach((x, i) => {
          sum += x * right[i]!;
        });
      }
      return sum;
    },
    combine: async (sum: Readonly<Record<GradientId, number>>): Promise<void> => {
      for (const table of this.#weights.parts.values()) {
        const out = new Float64Array(table.rows.size * table.width);
        for (const [id, factor] of Object.entries(sum)) {
          table.array(gradientName(id)).forEach((g, i) => {
            out[i]! += factor * g;
          });
        }
        table.array(gradientName(mainGradient)).set(out);
      }
    },
  };

  /** The gradient of the loss in a buffer, by context, [writable tokens] each. For tests and exact checks. */
  gradientByContext(id: GradientId = mainGradient): Map<string, Float64Array> {
    const table = this.#weights.part("logits");
    const gradient = table.array(gradientName(id));
    const rows = [...table.rows].map(([context, row]): [string, Float64Array] => [
      context,
      gradient.slice(row * table.width, (row + 1) * table.width),
    ]);
    return new Map(rows);
  }

  async save(folder: string): Promise<void> {
    await writeSaved(folder, this.#weights, this.contextTokens, this.#steps);
  }

  async load(folder: string): Promise<void> {
    const { weights, steps } = await readSaved(folder);
    this.#weights.parts.clear();
    for (const [name, table] of weights.parts) this.#weights.parts.set(name, table);
    this.#steps = steps;
  }
}

/** A model as {@link TabularModel.save} wrote it. */
export async function openTabular(id: ModelId, folder: string): Promise<TabularModel> {
  const { weights, contextTokens, steps } = await readSaved(folder);
  return new TabularModel(id, weights, contextTokens, steps);
}

async function writeSaved(
  folder: string,
  weights: Weights,
  contextTokens: number,
  steps: number,
): Promise<void> {
  const parts = [...weights.parts].map(([name, table]) => {
    const arrays = table.names().filter((n) => !isGradient(n));
    const kept = Object.fromEntries(arrays.map((n) => [n, [...table.array(n)]]));
    return [name, { contexts: [...table.rows.keys()], arrays: kept }];
  });
  const { context, codec } = weights;
  const saved: Saved = {
    format: 1,
    words: codec.words,
    context: Number.isFinite(context) ? context : null,
    contextTokens,
    steps,
    parts: Object.fromEntries(parts),
  };
  await writeFile(join(folder, fileName), JSON.stringify(saved), { flush: true });
}

async function readSaved(
  folder: string,
): Promise<{ weights: Weights; contextTokens: number; steps: number }> {
  const file = join(folder, fileName);
  try {
    const saved: Saved = JSON.parse(await readFile(file, "utf8"));
    const codec = wordCodec(saved.words);
    const weights = new Weights(codec, saved.context ?? Number.POSITIVE_INFINITY);
    for (const [name, { contexts, arrays }] of Object.entries(saved.parts)) {
      const table = new Table(name === "logits" ? weights.width : 1);
      for (const context of contexts) table.row(context);
      for (const [array, values] of Object.entries(arrays)) table.array(array).set(values);
      weights.parts.set(name, table);
    }
    return { weights, contextTokens: saved.contextTokens, steps: saved.steps };
  } catch (cause) {
    throw new WhetstoneError("checkpoint.damaged", {
      where: "tabular engine, load",
      got: `${file}: ${messageOf(cause)}`,
      expected: "a file that this engine wrote",
      mend: "Resume from an earlier checkpoint.",
      cause,
    });
  }
}

function ownKind(model: Model): TabularModel {
  if (model instanceof TabularModel) return model;
  throw foreign();
}

function frozenOwnKind(frozen: Frozen): TabularFrozen {
  if (frozen instanceof TabularFrozen) return frozen;
  throw foreign();
}

const foreign = (): WhetstoneError =>
  new WhetstoneError("capability.missing", {
    where: "tabular engine, blend",
    got: "a model of another engine",
    expected: "a tabular one",
    mend: "Blend models of one engine only.",
  });
