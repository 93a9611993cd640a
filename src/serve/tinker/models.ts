/** Creates clients' models. */
import { HTTPException } from "hono/http-exception";
import type { Json } from "../../core/json.ts";
import type { Model } from "../../core/model.ts";
import type * as wire from "../../engine/tinker/protocol.ts";
import type { Adapter, Base } from "./bases.ts";
import type { About, Checkpoints, Saved } from "./checkpoints.ts";
import { isFault } from "./fault.ts";
import type { Futures } from "./futures.ts";
import { digestOf } from "./read.ts";
import { clash, wrong } from "./refusals.ts";
import type { Session, Sessions } from "./sessions.ts";
import { openSaved, trainer } from "./trainer.ts";

/** Ids for polling the result of an operation. */
export type Pending = { readonly request_id: string; readonly model_id: string };

/** What the operations of the server share. */
export interface ServiceParts {
  readonly bases: ReadonlyMap<string, Base>;
  readonly store: Checkpoints;
  readonly results: Futures;
  readonly sessions: Sessions;
}

export interface Models {
  create(body: Output<"createModelRequest">): Pending;
  /** Creates a model with saved weights, in place of a `model_id`. */
  open(body: Output<"loadWeightsRequest">, digest: string): Promise<Pending>;
}

/** A request body, as its schema reads it. */
export type Output<K extends keyof typeof wire> = (typeof wire)[K] extends { readonly _output: infer T }
  ? T
  : never;

/** Largest adapter rank: a larger one could fill the memory and does not help models of this size. */
const mostRank = 1024;

export function baseOf(bases: ReadonlyMap<string, Base>, name: string): Base {
  const base = bases.get(name);
  if (base) return base;
  throw wrong(
    `base_model: got ${JSON.stringify(name.slice(0, 200))}, expected one of ${[...bases.keys()].join(", ")}.`,
  );
}

/** @throws HTTPException if there is no such checkpoint. */
export async function foundAt(store: Checkpoints, path: string): Promise<Saved> {
  const saved = await store.find(path);
  if (isFault(saved)) throw new HTTPException(404, { message: saved.error });
  return saved;
}

const aboutOf = (base: Base, adapter?: Adapter): About => ({
  base_model: base.name,
  ...(adapter && { lora_rank: adapter.rank }),
  train_mlp: adapter?.mlp ?? true,
  train_attn: adapter?.attention ?? true,
});

interface NewModel {
  readonly id: string;
  readonly base: Base;
  readonly about: About;
  readonly make: () => Promise<Model>;
  readonly result: Json;
}

export function models({ bases, store, results, sessions }: ServiceParts): Models {
  /** Begins to create a model, once per sequence number. */
  function begin(session: Session, { id, base, about, make, result }: NewModel, digest: string): Pending {
    const before = session.created.get(id);
    if (before) {
      if (before.body !== digest) throw clash(`model ${id}`);
      return { request_id: before.request, model_id: id };
    }
    const future = results.open(0);
    const model = make();
    session.trainers.set(id, trainer({ id, base, about }, model, store));
    session.created.set(id, { body: digest, request: future.id });
    void future.settle(() => model.then(() => ({ kind: "json", json: result })));
    return { request_id: future.id, model_id: id };
  }

  return {
    create(body) {
      const { session_id, model_seq_id, base_model, lora_config } = body;
      const session = sessions.use(session_id);
      const base = baseOf(bases, base_model);
      const rank = lora_config?.rank ?? 0;
      const { train_mlp: mlp = true, train_attn: attention = true } = lora_config ?? {};
      if (rank > mostRank) throw wrong(`lora_config: got a rank of ${rank}, expected 0 to ${mostRank}.`);
      if (rank > 0 && !mlp && !attention) {
        throw wrong(
          "lora_config: got neither train_mlp nor train_attn, expected at least one: adapters are on these layers only.",
        );
      }
      const adapter = rank > 0 ? { rank, mlp, attention } : undefined;
      const id = `${session.id}:train:${model_seq_id}`;
      const make = () => base.create(lora_config?.seed ?? model_seq_id, adapter);
      const result = { model_id: id, type: "create_model" };
      return begin(session, { id, base, about: aboutOf(base, adapter), make, result }, digestOf(body));
    },
    async open({ session_id, model_seq_id, base_model, path, optimizer }, digest) {
      if (!session_id || model_seq_id === undefined || model_seq_id === null) {
        throw wrong(
          "load_weights: got neither a model_id nor a session_id with a model_seq_id, expected one of the two.",
        );
      }
      const saved = await foundAt(store, path);
      const session = sessions.use(session_id);
      const base = baseOf(bases, base_model ?? saved.about.base_model);
      const id = `${session.id}:train:${model_seq_id}`;
      const make = () => openSaved(base, saved, optimizer);
      const result = { path, model_id: id, type: "load_weights" };
      return begin(session, { id, base, about: saved.about, make, result }, digest);
    },
  };
}
