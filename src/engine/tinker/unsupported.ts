/** Refuses what the Tinker API does not offer. */
import { WhetstoneError } from "../../core/errors.ts";
import type { Capability, StepRule } from "../../core/model.ts";
import type { Wanted } from "../../core/outputs.ts";

export function without(capability: string, got: string): WhetstoneError {
  return new WhetstoneError("capability.missing", {
    where: "tinker engine",
    got,
    expected: `a method without ${capability}, which the Tinker API does not offer`,
    fix: "Choose another method, or use --engine local.",
  });
}

export function requireOutputs(
  { entropy, topk, at, heads = [], hidden = [] }: Wanted,
  can: ReadonlySet<Capability>,
): void {
  const more = [
    ...(entropy && !can.has("entropy") ? ["entropy"] : []),
    ...(topk !== undefined && !can.has("topk") ? ["topk"] : []),
    ...(at && !can.has("at") ? ["at"] : []),
    ...(heads.length > 0 ? ["heads"] : []),
    ...(hidden.length > 0 ? ["hidden"] : []),
  ];
  if (more.length > 0) throw without(more.join(", "), `a request for ${more.join(", ")}`);
}

export function requireAdamw({ optimiser = "adamw", pull, groups }: StepRule): void {
  if (optimiser !== "adamw") throw without(`optimiser ${optimiser}`, `a step with ${optimiser}`);
  if (pull) throw without("pull", "a pull towards frozen weights");
  if (groups && Object.keys(groups).length > 0) {
    throw without("groups", "learning rates for groups of parameters");
  }
}
