/** Graphs compiled once per shape and kept as ready sessions. */
import {
  compile,
  createSession,
  differentiate,
  input,
  nameOf,
  residuals,
  type Session,
  type Tensor,
} from "../../tensor/index.ts";
import { decodeSizes, prefillSizes } from "./batch-sizes.ts";
import { type CachedGraph, decodeGraph, prefillGraph } from "./cached-graphs.ts";
import type { DecoderConfig } from "./config.ts";
import { trainingGraph } from "./decoder.ts";

/** A forward program that keeps what its backward program reads. */
export interface TrainingPrograms {
  readonly forward: Session;
  /** From the cotangent `d.logp` alone. */
  readonly backward: Session;
  /** From `d.logp` and `d.entropy`; made when it is first asked for. */
  readonly backwardEntropy: () => Promise<Session>;
  /** Names under which the forward hands inner values to the backward. */
  readonly kept: readonly string[];
}

export interface Programs {
  /** Outputs `logp` and `entropy`, [A] each. */
  score(B: number, T: number, A: number): Promise<Session>;
  /** The same outputs; then gradients of every parameter, under its name, from the cotangents `d.logp` and `d.entropy`. */
  train(B: number, T: number, A: number): Promise<TrainingPrograms>;
  prefill(B: number, T: number): Promise<Session>;
  /** Values of B for which a row's bits are the same, ascending. */
  prefillSizes(T: number): readonly number[];
  decode(B: number, S: number): Promise<Session>;
  /** As `prefillSizes`. */
  decodeSizes(S: number): readonly number[];
  release(): Promise<void>;
}

const keptName = (t: Tensor): string => `kept.${nameOf(t)}`;

export function programs(c: DecoderConfig, threads: number): Programs {
  const sessions = new Map<string, Promise<readonly Session[]>>();
  const once = <T extends readonly Session[]>(key: string, make: () => Promise<T>): Promise<T> => {
    const known = sessions.get(key);
    if (known) return known as Promise<T>;
    const made = make();
    sessions.set(key, made);
    return made;
  };
  const cached = async (graph: CachedGraph): Promise<readonly [Session]> => [
    await createSession(compile(graph.inputs, graph.outputs), { threads }),
  ];
  const info = new Map<string, Pick<TrainingPrograms, "kept" | "backwardEntropy">>();
  return {
    async score(B, T, A) {
      const [session] = await once(`score ${B} ${T} ${A}`, async () => {
        const g = trainingGraph(c, B, T, A);
        const inputs = [...g.weights.values(), g.tokens, g.context, g.targets];
        return [
          await createSession(compile(inputs, { logp: g.logp, entropy: g.entropy }), { threads }),
        ] as const;
      });
      return session;
    },
    async train(B, T, A) {
      const key = `${B} ${T} ${A}`;
      const [forward, backward] = await once(`train ${key}`, async () => {
        const g = trainingGraph(c, B, T, A);
        const feeds = [...g.weights.values(), g.tokens, g.context, g.targets];
        const cotangents = { logp: input("d.logp", [A]), entropy: input("d.entropy", [A]) };
        const fromLogp = { of: g.logp, cotangent: cotangents.logp };
        const fromEntropy = { of: g.entropy, cotangent: cotangents.entropy };
        const parameters = [...g.weights.values()];
        const plain = differentiate([fromLogp], parameters);
        const both = differentiate([fromLogp, fromEntropy], parameters);
        // one forward serves either backward: it keeps what the larger one reads
        const kept = residuals([g.logp, g.entropy], [...plain, ...both]);
        const backwardFor = (gradients: readonly Tensor[]): Promise<Session> =>
          createSession(
            compile(
              [...feeds, cotangents.logp, cotangents.entropy, ...kept],
              [...g.weights.keys()].map((name, i) => ({ name: `d.${name}`, of: gradients[i]! })),
            ),
            { threads },
          );
        const outputs = {
          logp: g.logp,
          entropy: g.entropy,
          ...Object.fromEntries(kept.map((t) => [keptName(t), t])),
        };
        info.set(key, {
          kept: kept.map(nameOf),
          backwardEntropy: async () =>
            (await once(`entropy ${key}`, async () => [await backwardFor(both)] as const))[0],
        });
        return [await createSession(compile(feeds, outputs), { threads }), await backwardFor(plain)] as const;
      });
      return { forward, backward, ...info.get(key)! };
    },
    prefillSizes: (T) => prefillSizes(c, T, threads),
    decodeSizes: (S) => decodeSizes(c, S, threads),
    prefill: async (B, T) => (await once(`prefill ${B} ${T}`, () => cached(prefillGraph(c, B, T))))[0],
    decode: async (B, S) => (await once(`decode ${B} ${S}`, () => cached(decodeGraph(c, B, S))))[0],
    async release() {
      for (const made of sessions.values()) for (const session of await made) await session.release();
      sessions.clear();
    },
  };
}
