/** Numbered operations on clients' models: each runs once, in the order of the numbers. */
import { readOutput, writeOutput } from "../../engine/tinker/protobuf.ts";
import * as wire from "../../engine/tinker/protocol.ts";
import { attributesOf, type saveExternalRequest, ttlRange } from "./bodies.ts";
import type { CheckpointAttributes } from "./checkpoints.ts";
import { type Fault, fault, isFault } from "./fault.ts";
import type { Result } from "./futures.ts";
import type { Models, Output, Pending, ServiceParts } from "./models.ts";
import { clash, tooMany, wrong } from "./refusals.ts";
import type { Samplers } from "./samplers.ts";
import { samplerId } from "./samplingSessions.ts";
import type { Trainer } from "./trainer.ts";

/** The digest of a request tells a retry from another operation with the same number. */
export interface Operations {
  unload(id: string): Pending;
  pass(p: wire.Pass, digest: string): Pending;
  step(body: Output<"optimStepRequest">, digest: string): Pending;
  save(body: Output<"saveWeightsRequest">, digest: string): Pending;
  load(body: Output<"loadWeightsRequest">, digest: string): Promise<Pending>;
  saveForSampler(body: Output<"saveForSamplerRequest">, digest: string): Pending;
  saveExternal(body: (typeof saveExternalRequest)["_output"], digest: string): Pending;
  /** Queues an operation that fails in its turn. @param isPass whether the next step then lacks its gradient. */
  refuse(turn: wire.Turn, digest: string, why: string, isPass: boolean): Pending;
}

const json = (of: Extract<Result, { kind: "json" }>["json"]): Result => ({ kind: "json", json: of });
const failed = (fault: Fault): Result => ({ kind: "failed", fault });
const isGone = failed(
  fault(
    "the model has gone: it was unloaded, or its session has ended. Create a new one and load your last checkpoint.",
  ),
);
const outputJson = (bytes: Uint8Array) => wire.outputJson(readOutput(bytes));
/** Bytes of a queued pass's numbers. */
const bytesOf = ({ data }: wire.Pass): number =>
  data.reduce(
    (n, { loss_fn_inputs }) => Object.values(loss_fn_inputs).reduce((m, { data }) => m + data.byteLength, n),
    0,
  );
const requireMarks = (ttlSeconds: number | null | undefined): CheckpointAttributes => {
  const marks = attributesOf(ttlSeconds);
  if (marks) return marks;
  throw wrong(ttlRange);
};

export function operations(
  { store, results, sessions }: ServiceParts,
  models: Models,
  drawn: Samplers,
): Operations {
  /** Begins a numbered operation, or returns the one that already has its number. */
  function operation(
    of: Trainer,
    number: number | null | undefined,
    digest: string,
    work: () => Promise<Result>,
    bytes = 0,
  ): Pending {
    // the next operation in order is always accepted: later ones wait for it, so room would never become free
    if (!of.turns.isNext(number || undefined) && results.full) throw tooMany();
    const taken = of.turns.take(number || undefined, digest, () => {
      const future = results.open(bytes);
      return { request: future.id, work: (over) => future.settle(over ? async () => isGone : work) };
    });
    if (taken.kind === "clash") throw clash(`seq_id ${number} of model ${of.id}`);
    return { request_id: taken.request, model_id: of.id };
  }

  const saveForSampler: Operations["saveForSampler"] = (body, digest) => {
    const { session, trainer } = sessions.trainer(body.model_id);
    const { path: name, sampling_session_seq_id: number } = body;
    if ((name ?? undefined) === undefined && (number ?? undefined) === undefined) {
      throw wrong(
        "save_weights_for_sampler: got neither a path nor a sampling_session_seq_id, expected one of them.",
      );
    }
    const marks = requireMarks(body.ttl_seconds);
    return operation(trainer, body.seq_id, digest, async () => {
      if (name !== undefined && name !== null) {
        const path = await trainer.save("sampler_weights", name, { marks });
        return isFault(path) ? failed(path) : json({ path, type: "save_weights_for_sampler" });
      }
      const id = samplerId(session, number ?? 0);
      if (session.samplers.has(id)) return failed(fault(`sampling session ${id} is there already.`));
      const of = { id, base: trainer.base, body: digest };
      const sampler = drawn.ofSnapshot(of, trainer.id, await trainer.freeze());
      session.samplers.set(id, sampler);
      return json({ path: null, sampling_session_id: sampler.id, type: "save_weights_for_sampler" });
    });
  };

  return {
    unload(id) {
      const { session, trainer } = sessions.trainer(id);
      return operation(trainer, undefined, "", async () => {
        session.trainers.delete(id);
        session.created.delete(id);
        void trainer.turns.close(); // not awaited: it resolves only after this operation
        await trainer.dispose();
        return json({ model_id: id, type: "unload_model" });
      });
    },
    pass(p, digest) {
      const { trainer } = sessions.trainer(p.model_id);
      const work = async (): Promise<Result> => {
        const output = await trainer.pass(p);
        if (isFault(output)) return failed(output);
        return { kind: "protobuf", bytes: writeOutput(output), json: outputJson };
      };
      return operation(trainer, p.seq_id, digest, work, bytesOf(p));
    },
    step(body, digest) {
      const { trainer } = sessions.trainer(body.model_id);
      return operation(trainer, body.seq_id, digest, async () => {
        const metrics = await trainer.step(body.adam_params);
        return isFault(metrics) ? failed(metrics) : json({ metrics, type: "optim_step" });
      });
    },
    save(body, digest) {
      const { trainer } = sessions.trainer(body.model_id);
      const marks = requireMarks(body.ttl_seconds);
      return operation(trainer, body.seq_id, digest, async () => {
        const options = { overwritten: body.overwrite, marks };
        const path = await trainer.save("weights", body.path ?? `step-${body.seq_id ?? 0}`, options);
        return isFault(path) ? failed(path) : json({ path, type: "save_weights" });
      });
    },
    async load(body, digest) {
      if (!body.model_id) return await models.open(body, digest);
      const { trainer } = sessions.trainer(body.model_id);
      return operation(trainer, body.seq_id, digest, async () => {
        const saved = await store.find(body.path); // read here, since the previous operation may save it
        const wrong = isFault(saved) ? saved : await trainer.load(saved, body.optimizer);
        return wrong ? failed(wrong) : json({ path: body.path, model_id: trainer.id, type: "load_weights" });
      });
    },
    saveForSampler,
    saveExternal(body, digest) {
      const { trainer } = sessions.trainer(body.model_id);
      const marks = requireMarks(body.ttl_seconds);
      return operation(trainer, body.seq_id, digest, async () => {
        const path = await trainer.saveExternal(body.path, { marks });
        return isFault(path) ? failed(path) : json({ path, type: "save_weights_external" });
      });
    },
    refuse({ model_id, seq_id }, digest, why, isPass) {
      const { trainer } = sessions.trainer(model_id);
      return operation(trainer, seq_id, digest, async () => {
        if (isPass) trainer.miss(why);
        return failed(fault(why));
      });
    },
  };
}
