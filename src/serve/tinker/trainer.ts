/** One model that a client trains, and its operations. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Frozen, Model } from "../../core/model.ts";
import { exportAdapter, exportWeights } from "../../engine/local/export.ts";
import type { AdamParams, ForwardBackwardOutput, Pass } from "../../engine/tinker/protocol.ts";
import type { Base } from "./bases.ts";
import type { About, Checkpoints, Saved, SaveOptions } from "./checkpoints.ts";
import { type Fault, fault, isFault } from "./fault.ts";
import { chooseLoss } from "./losses.ts";
import { pass } from "./pass.ts";
import { type Turns, turns } from "./turns.ts";

export interface Trainer {
  readonly id: string;
  readonly base: Base;
  readonly about: About;
  readonly turns: Turns;
  pass(p: Pass): Promise<ForwardBackwardOutput | Fault>;
  /** Reports an unreadable pass: the next step lacks its gradient and fails. */
  miss(why: string): void;
  step(params: AdamParams): Promise<Readonly<Record<string, number>> | Fault>;
  /** @returns the checkpoint's path. */
  save(kind: "weights" | "sampler_weights", name: string, options?: SaveOptions): Promise<string | Fault>;
  /** Saves for other tools: an adapter in PEFT format, or, without an adapter, a whole Hugging Face folder. */
  saveExternal(name: string, options?: SaveOptions): Promise<string | Fault>;
  load(saved: Saved, optimiser: boolean): Promise<Fault | undefined>;
  /** A snapshot of the current weights for sampling; the same one until a step or a load. */
  freeze(): Promise<Frozen>;
  dispose(): Promise<void>;
}

/** Opens a saved model, with its saved optimiser state or a fresh one. */
export async function openSaved(base: Base, { folder }: Saved, optimiser: boolean): Promise<Model> {
  const model = await base.open(folder);
  if (optimiser) return model;
  const fresh = await model.fork("fresh");
  await model.dispose();
  return fresh;
}

/** Describes the base model and adapter, which a checkpoint must match. */
function describedAdapter({ base_model, lora_rank, train_attn, train_mlp }: About): string {
  if (lora_rank === undefined) return `${base_model} with all weights`;
  const parts = [...(train_attn ? ["attention"] : []), ...(train_mlp ? ["MLP"] : [])].join(" and ");
  return `${base_model} with rank ${lora_rank} on ${parts}`;
}

/** @param making the model, which may still be loading: operations wait for it, and fail if it fails. */
export function trainer(
  { id, base, about }: Pick<Trainer, "id" | "base" | "about">,
  making: Promise<Model>,
  store: Checkpoints,
): Trainer {
  let current = making;
  current.catch(() => undefined); // the first operation reports the error
  /** Snapshot of the current weights, once one was requested. */
  let frozen: Frozen | undefined;
  /** Why gradients of this step are missing, if any are. */
  let missing: string | undefined;
  return {
    id,
    base,
    about,
    turns: turns(),
    async pass({ data, loss_fn, loss_fn_config, forward_only }) {
      const chosen = chooseLoss(loss_fn, loss_fn_config);
      try {
        const { vocabulary, contextTokens } = base;
        const how = { learn: !forward_only, vocabulary, contextTokens };
        const output = isFault(chosen) ? chosen : await pass(await current, data, chosen, how);
        if (isFault(output) && !forward_only) missing = output.error;
        return output;
      } catch (e) {
        if (!forward_only) missing = e instanceof Error ? e.message : String(e);
        throw e;
      }
    },
    miss(why) {
      missing = why;
    },
    async step(params) {
      const model = await current;
      frozen = undefined;
      if (missing !== undefined) {
        const why = missing;
        missing = undefined;
        // the gradient of the other passes alone is not the requested one: drop it
        await model.gradients?.combine({});
        return fault(
          `optim_step: a forward_backward of this step failed (${why}). No step was taken and the step's gradients are gone. Send its passes again, whole.`,
        );
      }
      const { learning_rate, beta1, beta2, eps, weight_decay, grad_clip_norm } = params;
      const { gradientNorm = 0, skipped = 0 } = await model.step({
        learningRate: learning_rate,
        betas: [beta1, beta2],
        epsilon: eps,
        weightDecay: weight_decay,
        ...(grad_clip_norm > 0 && { clip: grad_clip_norm }),
      });
      // JSON has no infinity, and clients would reject a placeholder
      const told = Number.isFinite(gradientNorm) && { "whetstone/grad_norm": gradientNorm };
      return { ...told, "whetstone/skipped": skipped };
    },
    save: async (kind, name, options) => {
      const model = await current;
      return store.save(id, kind, name, about, (folder) => model.save(folder), options);
    },
    async saveExternal(name, options) {
      const model = await current;
      const fill = async (folder: string): Promise<void> => {
        const whole = join(folder, "whole");
        await mkdir(whole);
        await model.save(whole);
        if (about.lora_rank === undefined) await exportWeights(whole, folder);
        else await exportAdapter(whole, folder, base.name);
        await rm(whole, { recursive: true });
      };
      return store.save(id, "external_weights", name, about, fill, options);
    },
    async load(saved, optimiser) {
      if (!isDeepStrictEqual(saved.about, about)) {
        return fault(
          `load_weights: got ${saved.path}, of ${describedAdapter(saved.about)}, expected one of ${describedAdapter(about)}.`,
        );
      }
      const before = await current;
      const model = await openSaved(base, saved, optimiser);
      current = Promise.resolve(model);
      frozen = undefined;
      missing = undefined;
      await before.dispose();
      return undefined;
    },
    async freeze() {
      frozen ??= await (await current).freeze();
      return frozen;
    },
    async dispose() {
      await current.then(
        (model) => model.dispose(),
        () => undefined,
      );
    },
  };
}
