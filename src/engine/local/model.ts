/** A local model behind the `Model` contract: calls the engine thread, and writes files from the main thread. */
import { inNode } from "../../common/files/inNode.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Capability, Codec, Frozen, Model, Sample, SampleWatch } from "../../core/model.ts";
import type { ModelId } from "../../core/types.ts";
import { oneByOne } from "../requests.ts";
import type { BaseModel } from "./base.ts";
import { mostRows } from "./batchSizes.ts";
import type { Host } from "./caller.ts";
import type { Grid } from "./packing.ts";
import { type Architecture, sizeOfParameter, trainedParameters } from "./parameters.ts";
import { accumulate, inputGradient, type PassModel, score } from "./passes.ts";
import type { Handle, LocalRequest } from "./protocol.ts";
import type { Reader } from "./reader.ts";
import { type TokenizerFiles, withoutOrigin } from "./tokenizer.ts";
import { mainGradient } from "./weights.ts";

export const localCapabilities: ReadonlySet<Capability> = new Set<Capability>([
  "tokens",
  "mix",
  "logp",
  "entropy",
  "topk",
  "at",
  "heads",
  "hidden",
  "inputGradient",
  "train",
  "freeze",
  "fork",
  "gradients",
]);

/** What all models of one engine share. */
export interface LocalParts {
  readonly host: Host;
  readonly architecture: Architecture;
  readonly tokenizer: TokenizerFiles;
  readonly codec: Codec;
  /** Absent: conversations are read in this thread. */
  readonly reader?: Reader;
  /** Maximum positions of one micro-batch, padding included. Bounds the memory of a training step. */
  readonly places: number;
  readonly grid: Grid;
}

const checkpoints = () => inNode(() => import("./checkpoint.ts"));

/** Engine threads that have received the text of the tokens. */
const worded = new WeakSet<LocalParts>();

/** Where a model begins. */
interface Start {
  readonly version: number;
  /** Of an adapter that was trained on a model from elsewhere: checkpoints refer to it. */
  readonly base: BaseModel | undefined;
}

/** @param id the name in the run. @param handle of weights that the engine thread already holds. */
export function localModel(id: ModelId, parts: LocalParts, handle: Handle, start: Start): Model {
  const { host, architecture, codec, reader, places, grid } = parts;
  const { config } = architecture;
  let { version, base } = start;
  // calls that touch gradients or weights run in the order in which they are made
  const alone = oneByOne();

  /** Done once for the model and its copies. */
  async function sendWords(): Promise<void> {
    if (worded.has(parts)) return;
    worded.add(parts);
    await host.call("words", handle, withoutOrigin(parts.tokenizer));
  }

  const passes: PassModel = { id, host, handle, architecture, places, grid, padId: codec.padId };

  const model: Model = {
    id,
    get version() {
      return String(version);
    },
    can: localCapabilities,
    codec,
    ...(reader && { read: reader.read }),
    contextTokens: config.contextTokens,
    parameters: trainedParameters(architecture).reduce((sum, p) => sum + sizeOfParameter(p), 0),
    plannedMemory: (rows, beside) =>
      alone(async () => {
        const sizes = { places, tokens: config.contextTokens, rows: Math.min(rows, mostRows) };
        const use = { ...sizes, ...(beside && { beside }) };
        return (await host.call("memory", handle, use))?.whole;
      }),
    sample: async (requests, following) => {
      const given = requests.map(
        ({ mix, ...request }): LocalRequest => ({
          ...request,
          ...(mix && { mix: { of: handleOf(host, mix.of), share: mix.share } }),
        }),
      );
      const words = requests.some(({ stop = [] }) => stop.length > 0) && sendWords();
      // both at once, so that no other call gets in between
      const [samples] = await Promise.all([
        following ? followed(host, handle, given, following) : host.call("sample", handle, given),
        words,
      ]);
      return samples;
    },
    score: (rows, want) => score(passes, rows, want),
    accumulate: (batch, objective, aux, into = mainGradient) =>
      alone(() => accumulate(passes, String(version), batch, objective, aux, into)),
    inputGradient: (batch, objective, aux) => alone(() => inputGradient(passes, batch, objective, aux)),
    step: ({ pull, ...rule }) =>
      alone(async () => {
        const toward = pull && { toward: handleOf(host, pull.toward), strength: pull.strength };
        const done = await host.call("step", handle, rule, toward);
        version = done.version;
        return done.stats;
      }),
    freeze: () =>
      alone(async () => frozenModel(id, parts, await host.call("copy", handle, "fresh"), { version, base })),
    fork: (optimiser, name = id) =>
      alone(async () =>
        localModel(name, parts, await host.call("copy", handle, optimiser), { version, base }),
      ),
    gradients: {
      dot: (a, b) => alone(() => host.call("dot", handle, a, b)),
      combine: (sum) => alone(() => host.call("combine", handle, sum)),
    },
    save: (folder) =>
      alone(async () => {
        const { writeCheckpoint } = await checkpoints();
        await writeCheckpoint(
          folder,
          { architecture, tokenizer: parts.tokenizer, ...(base && { base }) },
          // a frozen base that lies elsewhere is not written, and copying it here would take its memory once more
          await host.call("contents", handle, base ? "trained" : "all"),
        );
      }),
    load: (folder) =>
      alone(async () => {
        const { readCheckpointLike } = await checkpoints();
        const read = await readCheckpointLike(folder, architecture, parts.tokenizer);
        await host.call("replace", handle, read.contents);
        ({ base } = read);
        version = read.contents.version;
      }),
    async dispose() {
      if (!host.ended) await host.call("drop", handle);
    },
  };

  handles.set(model, { host, handle });
  return model;
}

/** Samples while somebody waits. */
async function followed(
  host: Host,
  handle: Handle,
  requests: readonly LocalRequest[],
  { onToken, gone }: SampleWatch,
): Promise<Sample[]> {
  gone?.throwIfAborted();
  const watch = host.watch(onToken ?? (() => {}));
  const cancel = (): void => void host.call("cancel", handle, watch).catch(() => undefined);
  gone?.addEventListener("abort", cancel);
  try {
    return await host.call("sample", handle, requests, watch, onToken !== undefined);
  } finally {
    gone?.removeEventListener("abort", cancel);
    host.unwatch(watch);
  }
}

/** @param copy handle of weights that nothing else changes. */
function frozenModel(id: ModelId, parts: LocalParts, copy: Handle, from: Start): Frozen {
  const { host } = parts;
  const inner = localModel(id, parts, copy, from);
  let blended = from.version;
  const frozen: Frozen = {
    get version() {
      return String(blended);
    },
    codec: inner.codec,
    sample: inner.sample,
    score: inner.score,
    async blend(toward, rate) {
      blended = await host.call("blend", copy, handleOf(host, toward), rate);
    },
    save: inner.save,
    dispose: inner.dispose,
  };
  handles.set(frozen, { host, handle: copy });
  return frozen;
}

/** The handle of a model's or a frozen model's weights. */
const handles = new WeakMap<Model | Frozen, { readonly host: Host; readonly handle: Handle }>();

function handleOf(host: Host, of: Model | Frozen): Handle {
  const known = handles.get(of);
  if (known?.host === host) return known.handle;
  throw new WhetstoneError("capability.missing", {
    where: "local engine",
    got: "a model of another engine",
    expected: "one made by this engine",
    fix: "Blend, pull and mix only between models of one engine.",
  });
}
