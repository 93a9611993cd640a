/** Text embeddings: similar texts get vectors that lie close together. */

/** Embeds texts. Vectors of encoders with different ids must not be compared. */
export interface Encoder {
  /** Name that includes everything that affects its vectors, e.g. "hashed-text/256". */
  readonly id: string;
  /** Dimension of a vector. */
  readonly width: number;
  /** One vector of length 1 per text, in order; all zeros for a text without features. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
}

/** v / |v|; a zero vector stays zero. */
export function unitVector(vector: ArrayLike<number>): Float32Array {
  let square = 0;
  for (let i = 0; i < vector.length; i++) square += vector[i]! ** 2;
  const scale = square === 0 ? 0 : 1 / Math.sqrt(square);
  return Float32Array.from({ length: vector.length }, (_, i) => vector[i]! * scale);
}

/** Σ a[i] b[i]; for vectors of length 1 the cosine of the angle between them. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** A vector quantised to one byte per number and one scale: v[i] ≈ scale · bytes[i], within scale / 2. */
export interface PackedVector {
  readonly scale: number;
  readonly bytes: Int8Array;
}

/** Quantises a vector; the largest magnitude becomes ±127. Packing an unpacked vector gives the same bytes. */
export function packVector(vector: ArrayLike<number>): PackedVector {
  let most = 0;
  for (let i = 0; i < vector.length; i++) most = Math.max(most, Math.abs(vector[i]!));
  const scale = Math.fround(most / 127);
  const bytes = Int8Array.from({ length: vector.length }, (_, i) =>
    scale === 0 ? 0 : Math.round(vector[i]! / scale),
  );
  return { scale, bytes };
}

/** Restores a quantised vector, each number within scale / 2 of the original. */
export const unpackVector = ({ scale, bytes }: PackedVector): Float32Array =>
  Float32Array.from(bytes, (x) => x * scale);
