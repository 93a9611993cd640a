/** The auxiliary models of a method: models beside the policy, frozen copies and helpers. */
import type { StatefulHelper } from "../core/context.ts";
import type { Frozen, Model, ModelsBeside } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type { Method } from "../core/slots.ts";
import type { ModelId } from "../core/types.ts";
import type { RunState } from "./state.ts";

export interface AuxiliaryModels {
  readonly models: Map<ModelId, Model>;
  readonly frozen: Map<string, Frozen>;
  readonly helpers: Map<string, StatefulHelper<never, never, unknown>>;
}

/** Creates models, or restores them from a checkpoint. */
export interface ModelSource {
  readonly create: (id: ModelId, heads: readonly string[]) => Promise<Model>;
  /** Absent at a run's beginning. */
  readonly restore?: (kind: "models" | "frozen", id: string) => Promise<Model>;
  /** The run's own stream. */
  readonly random: Random;
}

/** Creates or restores all auxiliary models; frozen copies are made of the current policy. */
export async function addAuxiliaryModels(
  method: Method,
  { models, frozen, helpers }: AuxiliaryModels,
  state: RunState,
  { create, restore, random }: ModelSource,
): Promise<void> {
  const policy = models.get("policy")!;
  for (const [id, rule] of Object.entries(method.models ?? {})) {
    const begin = (): Promise<Model> =>
      rule.from === "policy" ? policy.fork("fresh", id) : create(id, rule.heads ?? []);
    models.set(id, await (restore ? restore("models", id) : begin()));
  }
  for (const name of Object.keys(method.frozen ?? {})) {
    const from = restore ? await restore("frozen", name) : policy;
    frozen.set(name, await from.freeze());
    if (from !== policy) await from.dispose();
  }
  for (const [name, make] of Object.entries(method.helpers ?? {})) {
    const helper = make(random.split("helper", name));
    const known = state.helpers[name];
    if (known !== undefined) helper.load(known);
    helpers.set(name, helper);
  }
}

/**
 * How many models a run keeps beside its policy.
 * @param staleness iterations that play ahead, each with copies of all models. @param restored whether they are read from a checkpoint.
 */
export function modelsBeside(method: Method, staleness: number, restored: boolean): ModelsBeside {
  const rules = Object.values(method.models ?? {});
  const snapshots = staleness > 0 ? (staleness + 1) * (1 + rules.length) : 0;
  const frozen = Object.keys(method.frozen ?? {}).length + snapshots;
  // what is read from a checkpoint has all of its weights for itself
  if (restored) return { created: rules.length, copied: 0, frozen, apart: true };
  const copied = rules.filter(({ from }) => from === "policy").length;
  return { created: rules.length - copied, copied, frozen, apart: false };
}

/** Lets the frozen models follow the policy, as the method says. */
export async function blendAll(method: Method, { models, frozen }: AuxiliaryModels): Promise<void> {
  for (const [name, rule] of Object.entries(method.frozen ?? {})) {
    if (rule.blend) await frozen.get(name)?.blend(models.get("policy")!, rule.blend);
  }
}

/** The helpers' current states. */
export const helperStates = ({ helpers }: AuxiliaryModels): RunState["helpers"] =>
  Object.fromEntries([...helpers].map(([name, helper]) => [name, helper.save()]));
