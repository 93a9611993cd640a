/** One model that a client trains: its operations, in their order. */
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
  /** A pass that could not even be read: the next step lacks its gradient. */
  miss(why: string): void;
  step(params: AdamParams): Promise<Readonly<Record<string, number>> | Fault>;
  /** @returns the checkpoint's path. */
  save(kind: "weights" | "sampler_weights", name: string, options?: SaveOptions): Promise<string | Fault>;
  /** As other tools take it: an adapter in PEFT's form, or without one a whole Hugging Face folder. */
  saveExternal(name: string, options?: SaveOptions): Promise<string | Fault>;
  load(saved: Saved, optimiser: boolean): Promise<Fault | undefined>;
  /** The weights of now, to sample from: the same ones until a step or a load. */
  freeze(): Promise<Frozen>;
  dispose(): Promise<void>;
}

/** A model as it was saved, with its optimiser's state or with that of a first step. */
export async function openSaved(base: Base, { folder }: Saved, optimiser: boolean): Promise<Model> {
  const model = await base.open(folder);
  if (optimiser) return model;
  const fresh = await model.fork("fresh");
  await model.dispose();
  return fresh;
}

/** What a checkpoint has to fit. */
function told({ base_model, lora_rank, train_attn, train_mlp }: About): string {
  if (lora_rank === undefined) return `${base_model} with all weights`;
  const parts = [...(train_attn ? ["attention"] : []), ...(train_mlp ? ["MLP"] : [])].join(" and ");
  return `${base_model} with rank ${lora_rank} on ${parts}`;
}

/** @param making the model, which may still be on its way: operations wait for it, and fail with it. */
export function trainer(
  { id, base, about }: Pick<Trainer, "id" | "base" | "about">,
  making: Promise<Model>,
  store: Checkpoints,
): Trainer {
  let current = making;
  current.catch(() => undefined); // told by the first operation
  /** Of the weights of now, once there was a wish for it. */
  let frozen: Frozen | undefined;
  /** Why gradients of this step are missing, if some are. */
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
        // what other passes of this step gathered is not the gradient that was meant
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
      // JSON has no infinity: clients would take what stands for it for a broken answer
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
          `load_weights: got ${saved.path}, of ${told(saved.about)}, expected one of ${told(about)}.`,
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
