/** Half-precision numbers. */

/** A lookup table from float16 bits to float32. */
let halves: Float32Array | undefined;

/** Values of all 65,536 float16 numbers by their bits. */
export function halfTable(): Float32Array {
  halves ??= Float32Array.from({ length: 1 << 16 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  });
  return halves;
}
