/** The thread in which `whetstone validate` loads an environment and plays it. */
import { parentPort, workerData } from "node:worker_threads";
import { type ErrorCode, type ErrorParts, isWhetstoneError } from "../core/errors.ts";
import type { Codec } from "../core/model.ts";
import { type EnvironmentReport, examine, reportOf } from "../diagnose/environment/validate.ts";
import type { Environment } from "../env/environment.ts";
import { requireEnvironment } from "./catalogue.ts";

export interface ValidateOrder {
  readonly env: string;
  readonly engine: "local" | "tabular";
  /** A checkpoint: a folder, a GGUF file, or an id on the Hugging Face Hub. */
  readonly model?: string;
  readonly episodes: number;
  readonly seconds: number;
  readonly seed: number;
  /** Default: as the model and the memory allow, else 128. */
  readonly contextTokens?: number;
}

export type ValidateAnswer =
  /** @property seconds that one call may take. */
  | { readonly type: "loaded"; readonly seconds: number }
  | { readonly type: "call"; readonly call: string }
  | { readonly type: "alive" }
  | { readonly type: "episode" }
  | { readonly type: "report"; readonly report: EnvironmentReport }
  /** What cannot be made again on the other side comes as it is. */
  | { readonly type: "refused"; readonly code: ErrorCode; readonly parts: ErrorParts }
  | { readonly type: "error"; readonly error: unknown };

const order = workerData as ValidateOrder;
const answer = (message: ValidateAnswer): void => parentPort!.postMessage(message);
const alive = setInterval(() => answer({ type: "alive" }), 500);

try {
  const environment = await requireEnvironment("validate", order.env);
  answer({ type: "loaded", seconds: environment.limits.seconds ?? 60 });
  answer({ type: "call", call: "tasks()" });
  const examination = await examine(environment, {
    ...order,
    needAll: true,
    onEpisode: () => answer({ type: "episode" }),
    onCall: (call) => answer({ type: "call", call }),
  });
  const contextTokens = order.contextTokens ?? (await plannedFor(order.model));
  const codec = await codecFor(environment);
  const report = reportOf(examination, codec && { codec, contextTokens });
  answer({ type: "report", report });
} catch (error) {
  if (isWhetstoneError(error)) {
    const { cause: _, ...parts } = error.parts;
    answer({ type: "refused", code: error.code, parts });
  } else answer({ type: "error", error });
} finally {
  clearInterval(alive);
}

async function plannedFor(model: string | undefined): Promise<number> {
  return model === undefined ? 128 : (await import("../engine/local/index.ts")).contextOf({ from: model });
}

/** Nothing where no model was named, and the environment has no vocabulary to make a tokenizer from. */
async function codecFor({ vocabulary }: Environment): Promise<Codec | undefined> {
  if (order.model === undefined && !vocabulary) return undefined;
  const words = vocabulary?.() ?? [];
  if (order.model === undefined && order.engine === "tabular")
    return (await import("../engine/tabular/codec.ts")).vocabularyCodec(words);
  return await (await import("../engine/local/index.ts")).localCodec(order.model, words);
}
