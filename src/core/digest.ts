/** SHA-256 of a text (FIPS 180-4). Web pages have no synchronous one, and `node:crypto` exists in Node alone. */

const rotated = (x: number, by: number): number => (x >>> by) | (x << (32 - by));

/** The first `count` primes. */
function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((p) => n % p !== 0)) found.push(n);
  return found;
}

/** The first 32 bits behind the point of a root. */
const fraction = (root: number): number => ((root % 1) * 2 ** 32) | 0;
const constants = Int32Array.from(primes(64), (p) => fraction(Math.cbrt(p)));
const start = Int32Array.from(primes(8), (p) => fraction(Math.sqrt(p)));

/** The text's UTF-8 bytes, a 1, zeros, and its length in bits: a multiple of 64 bytes. */
function padded(text: string): DataView {
  const bytes = new TextEncoder().encode(text);
  const whole = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  whole.set(bytes);
  whole[bytes.length] = 0x80;
  const view = new DataView(whole.buffer);
  view.setBigUint64(whole.length - 8, BigInt(bytes.length) * 8n);
  return view;
}

/** @returns 64 hexadecimal digits. */
export function sha256(text: string): string {
  const view = padded(text);
  const hash = start.slice();
  const w = new Int32Array(64);
  for (let at = 0; at < view.byteLength; at += 64) {
    for (let t = 0; t < 16; t++) w[t] = view.getInt32(at + 4 * t);
    for (let t = 16; t < 64; t++) {
      const [x, y] = [w[t - 15]!, w[t - 2]!];
      const s0 = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
      const s1 = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
      w[t] = w[t - 16]! + s0 + w[t - 7]! + s1;
    }
    compress(hash, w);
  }
  return [...hash].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** One block: section 6.2.2, steps 2 to 4. */
function compress(hash: Int32Array, w: Int32Array): void {
  let [a, b, c, d, e, f, g, h] = [...hash];
  for (let t = 0; t < 64; t++) {
    const s1 = rotated(e!, 6) ^ rotated(e!, 11) ^ rotated(e!, 25);
    const t1 = (h! + s1 + ((e! & f!) ^ (~e! & g!)) + constants[t]! + w[t]!) | 0;
    const s0 = rotated(a!, 2) ^ rotated(a!, 13) ^ rotated(a!, 22);
    const t2 = (s0 + ((a! & b!) ^ (a! & c!) ^ (b! & c!))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d! + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  for (const [i, x] of [a, b, c, d, e, f, g, h].entries()) hash[i] = hash[i]! + x!;
}
