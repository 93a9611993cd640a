/** The programs of ONNX Runtime, which a GPU does without. */
import { compile } from "../../tensor/compile.ts";
import { createSession, type Session, type SessionOptions } from "../../tensor/execute.ts";
import { rowTile } from "./batchSizes.ts";
import { type CachedGraph, decodeGraph, pieceGraph, prefillGraph } from "./cachedGraphs.ts";
import type { Architecture } from "./parameters.ts";
import { ready, type ScoringPrograms, scoringPrograms } from "./programs.ts";

export interface Programs extends ScoringPrograms {
  prefill(B: number, T: number): Promise<Session>;
  decode(B: number, S: number): Promise<Session>;
  piece(T: number, S: number): Promise<Session>;
}

export function programs(a: Architecture, options: SessionOptions): Programs {
  const release = (made: Session): Promise<void> => made.release();
  const sampling = ready<Session>(release);
  const cached = (key: string, graph: () => CachedGraph): Promise<Session> =>
    sampling(key, () => {
      const { inputs, outputs } = graph();
      return createSession(compile(inputs, outputs, { rowTile }), options);
    });
  return {
    ...scoringPrograms<Session>(a, {
      make: (inputs, outputs) => createSession(compile(inputs, outputs), options),
      release,
    }),
    prefill: (B, T) => cached(`prefill ${B} ${T}`, () => prefillGraph(a, B, T)),
    decode: (B, S) => cached(`decode ${B} ${S}`, () => decodeGraph(a, B, S)),
    piece: (T, S) => cached(`piece ${T} ${S}`, () => pieceGraph(a, T, S)),
  };
}
