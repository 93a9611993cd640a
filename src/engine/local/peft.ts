/** LoRA adapters in PEFT's format: adapter_config.json and adapter_model.safetensors. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFlushed } from "../../common/files/files.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { DecoderConfig } from "./config.ts";
import {
  type Adapter,
  adapterParameters,
  type Projection,
  projectionName,
  projections,
  type Weights,
} from "./parameters.ts";
import { openSafetensors, type SafetensorsFile, writeSafetensors } from "./safetensors.ts";

export const peftFiles = { config: "adapter_config.json", weights: "adapter_model.safetensors" } as const;

/** PEFT's prefix of the names of the wrapped model. */
const wrapper = "base_model.model.";

const empty = z.union([
  z.null(),
  z.undefined(),
  z.literal(false),
  z.array(z.never()),
  z.record(z.string(), z.never()),
]);
const schema = z.looseObject({
  peft_type: z.string().default("LORA"),
  r: z.int().positive().default(8),
  lora_alpha: z.number().positive().default(8),
  use_rslora: z.boolean().nullish(),
  bias: z.string().nullish(),
  target_modules: z.union([z.string(), z.array(z.string())]).nullish(),
});

/** Settings that change what the adapter computes, in ways that are not supported here. */
const foreign = [
  "use_dora",
  "lora_bias",
  "fan_in_fan_out",
  "modules_to_save",
  "rank_pattern",
  "alpha_pattern",
  "layers_to_transform",
  "exclude_modules",
  "trainable_token_indices",
  "target_parameters",
  "megatron_config",
  "alora_invocation_tokens",
] as const;

function damaged(where: string, got: string): WhetstoneError {
  return new WhetstoneError("checkpoint.damaged", {
    where,
    got,
    expected: "a whole PEFT adapter for this model",
    fix: "Use the model that the adapter was trained on, or export the adapter again.",
  });
}

function unsupported(where: string, got: string): WhetstoneError {
  return new WhetstoneError("model.unsupported", {
    where,
    got,
    expected: `plain LoRA of one rank on some of ${projections.join(", ")}, the same in every layer`,
    fix: "Merge the adapter into its model with PEFT and open the merged checkpoint.",
  });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Matches module names as PEFT's regular expressions do: the whole name has to match. */
function matcher(pattern: string, where: string): (name: string) => boolean {
  if (pattern === "all-linear") return (name) => name.endsWith("_proj");
  try {
    const whole = new RegExp(`^(?:${pattern})$`, "s");
    return (name) => whole.test(name);
  } catch {
    throw unsupported(where, `target_modules ${JSON.stringify(pattern)}, an invalid expression`);
  }
}

/** The projections that `target_modules` selects. */
function targetsOf(of: string | readonly string[], config: DecoderConfig, where: string): Projection[] {
  const isMeant =
    typeof of === "string"
      ? matcher(of, where)
      : (name: string): boolean => of.some((t) => name === t || name.endsWith(`.${t}`));
  const layers = Array.from({ length: config.layers }, (_, i) => i);
  const targets = projections.filter((p) => layers.some((i) => isMeant(projectionName(i, p))));
  const uneven = targets.find((p) => !layers.every((i) => isMeant(projectionName(i, p))));
  if (uneven) throw unsupported(where, `${uneven} as a target in some layers only`);
  const everywhere = [
    "lm_head",
    "model.embed_tokens",
    ...layers.flatMap((i) => projections.map((p) => projectionName(i, p))),
  ];
  const known = typeof of === "string" ? [] : of;
  const stray =
    ["lm_head", "model.embed_tokens"].find(isMeant) ??
    known.find((t) => !everywhere.some((name) => name === t || name.endsWith(`.${t}`)));
  if (stray) throw unsupported(where, `${stray} as a target`);
  if (targets.length === 0) throw damaged(where, "target_modules that match nothing");
  return targets;
}

/** The projections that have tensors; exports of some servers do not list targets. */
function targetsIn(names: readonly string[]): Projection[] {
  return projections.filter((p) => names.some((name) => name.includes(`.${p}.lora_`)));
}

async function readConfig(path: string): Promise<z.infer<typeof schema>> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, "utf8"));
  } catch (e) {
    throw damaged(path, messageOf(e));
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw damaged(path, z.prettifyError(parsed.error).replaceAll("\n", " "));
  const c = parsed.data;
  if (c.peft_type !== "LORA") throw unsupported(path, `an adapter of type ${c.peft_type}`);
  if ((c.bias ?? "none") !== "none") throw unsupported(path, `bias ${JSON.stringify(c.bias)}`);
  const other = foreign.find((name) => !empty.safeParse(c[name]).success);
  if (other) throw unsupported(path, `${other} ${JSON.stringify(c[other])}`);
  return c;
}

function requireTensors(file: SafetensorsFile, config: DecoderConfig, adapter: Adapter): void {
  const wanted = new Map(adapterParameters(config, adapter).map((p) => [wrapper + p.name, p.shape]));
  for (const [name, shape] of wanted) {
    const found = file.shapes.get(name);
    if (!found) throw damaged(file.path, `no tensor ${name}`);
    if (found.join() === shape.join()) continue;
    throw damaged(file.path, `${name} of shape [${found.join(", ")}] instead of [${shape.join(", ")}]`);
  }
  const extra = [...file.shapes.keys()].find((name) => !wanted.has(name));
  if (extra !== undefined) throw damaged(file.path, `the tensor ${extra}, which the adapter does not have`);
}

/**
 * Reads an adapter for a model of this shape. A scale of alpha / √rank (`use_rslora`) is converted into an equivalent alpha.
 * @returns tensors by our names: `….lora_A.weight` [rank, in], `….lora_B.weight` [out, rank].
 * @throws WhetstoneError `model.unsupported` for adapters other than plain LoRA; `checkpoint.damaged` when a tensor is
 * missing, superfluous, of another shape, or has a value that is not finite.
 */
export async function readPeft(
  folder: string,
  config: DecoderConfig,
): Promise<{ readonly adapter: Adapter; readonly tensors: Weights }> {
  const where = join(folder, peftFiles.config);
  const c = await readConfig(where);
  const path = join(folder, peftFiles.weights);
  if (!(await exists(path)) && (await exists(join(folder, "adapter_model.bin")))) {
    throw unsupported(folder, "weights in adapter_model.bin alone");
  }
  await using file = await openSafetensors(path);
  const targets = c.target_modules
    ? targetsOf(c.target_modules, config, where)
    : targetsIn([...file.shapes.keys()]);
  const alpha = c.use_rslora ? c.lora_alpha * Math.sqrt(c.r) : c.lora_alpha;
  const adapter: Adapter = { rank: c.r, alpha, targets };
  requireTensors(file, config, adapter);
  const tensors: Weights = new Map();
  for (const { name } of adapterParameters(config, adapter)) {
    tensors.set(name, await file.read(wrapper + name));
  }
  return { adapter, tensors };
}

/**
 * Writes an adapter into an existing folder, for PEFT and for servers that load PEFT adapters.
 * @param tensors by our names, as `readPeft` returns them. @param baseName the base model's folder or Hub id.
 * @throws WhetstoneError `disk.write` or `folder.unwritable`.
 */
export async function writePeft(
  folder: string,
  config: DecoderConfig,
  adapter: Adapter,
  tensors: ReadonlyMap<string, Float32Array>,
  baseName: string,
): Promise<void> {
  const fields = {
    auto_mapping: null,
    base_model_name_or_path: baseName,
    bias: "none",
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    alpha_pattern: {},
    lora_alpha: adapter.alpha,
    lora_dropout: 0,
    modules_to_save: null,
    peft_type: "LORA",
    r: adapter.rank,
    rank_pattern: {},
    revision: null,
    target_modules: projections.filter((p) => adapter.targets.includes(p)),
    task_type: "CAUSAL_LM",
    use_dora: false,
    use_rslora: false,
  };
  await writeSafetensors(
    join(folder, peftFiles.weights),
    adapterParameters(config, adapter).map(({ name, shape }) => {
      const data = tensors.get(name);
      if (data) return { name: wrapper + name, shape, data };
      throw new WhetstoneError("shape.mismatch", {
        where: "writePeft",
        got: `no tensor ${name}`,
        expected: "both matrices of every target in every layer",
        fix: "Pass all tensors of the adapter.",
      });
    }),
  );
  await writeFlushed(join(folder, peftFiles.config), `${JSON.stringify(fields, null, 2)}\n`);
}

/**
 * Merges an adapter into the weights: W + alpha / rank · B A. All other weights are the same arrays.
 * @throws WhetstoneError `shape.mismatch` when the adapter does not fit these weights.
 */
export function mergeAdapter(
  weights: ReadonlyMap<string, Float32Array>,
  { rank, alpha }: Pick<Adapter, "rank" | "alpha">,
  tensors: ReadonlyMap<string, Float32Array>,
): Weights {
  const out: Weights = new Map(weights);
  for (const [name, a] of tensors) {
    if (!name.endsWith(".lora_A.weight")) continue;
    const at = name.slice(0, -".lora_A.weight".length);
    const b = tensors.get(`${at}.lora_B.weight`);
    const whole = weights.get(`${at}.weight`);
    const columns = a.length / rank;
    if (!b || !whole || (b.length / rank) * columns !== whole.length) {
      throw new WhetstoneError("shape.mismatch", {
        where: "mergeAdapter",
        got: `matrices for ${at} that do not fit its weight`,
        expected: `A [${rank}, in], B [out, ${rank}] and a weight [out, in]`,
        fix: "Merge an adapter into the model that it was made for.",
      });
    }
    const merged = whole.slice();
    const sum = new Float64Array(columns);
    for (let row = 0; row < b.length / rank; row++) {
      sum.fill(0);
      for (let k = 0; k < rank; k++) {
        const factor = (alpha / rank) * b[row * rank + k]!;
        for (let i = 0; i < columns; i++) sum[i]! += factor * a[k * columns + i]!;
      }
      for (let i = 0; i < columns; i++) merged[row * columns + i]! += sum[i]!;
    }
    out.set(`${at}.weight`, merged);
  }
  return out;
}
