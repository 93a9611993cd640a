/**
 * Seeded, splittable random streams. A stream is named by a path such as (run seed, iteration, task, attempt), so
 * that what is drawn does not depend on the order in which concurrent work happens.
 */
export interface Random {
  /** Next number in [0, 1), 32 bits. */
  next(): number;
  /** Integer in [0, n). */
  below(n: number): number;
  /** Standard normal (Box–Muller; two draws each). */
  normal(): number;
  /** A child stream. Depends on this stream's path and the key alone, not on what was drawn from it. */
  split(...key: readonly (string | number)[]): Random;
  /** A 32-bit seed that stands for this stream's path. */
  readonly seed: number;
}

/** MurmurHash3's 32-bit mixing of one more word into a hash state. */
function mix(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  let h = hash ^ Math.imul(k, 0x1b873593);
  h = (h << 13) | (h >>> 19);
  return (Math.imul(h, 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

type Path = readonly [number, number, number, number];

function extend(path: Path, key: string | number): Path {
  // the tag distinguishes the number 1 from the text "1"
  const text = typeof key === "number" ? `n${key}` : `s${key}`;
  const out: [number, number, number, number] = [path[0], path[1], path[2], path[3]];
  for (let lane = 0; lane < 4; lane++) {
    let h = out[lane]!;
    for (let i = 0; i < text.length; i++) h = mix(h, text.charCodeAt(i) + lane * 0x9e3779b9);
    out[lane] = mix(h, text.length);
  }
  return out;
}

function fromPath(path: Path): Random {
  // sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, passes the usual batteries
  let a = finish(path[0]) | 0;
  let b = finish(path[1]) | 0;
  let c = finish(path[2]) | 0;
  let d = finish(path[3]) | 0;
  const draw = (): number => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) draw();
  const next = (): number => draw() / 2 ** 32;
  return {
    next,
    below: (n) => Math.floor(next() * n),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    split: (...key) => fromPath(key.reduce<Path>(extend, path)),
    seed: finish(path[0] ^ path[3]),
  };
}

/** @param seed any integer or text. Same seed, same stream, on every machine. */
export function randomStream(seed: number | string): Random {
  return fromPath(extend([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], seed));
}

/** Fisher–Yates on a copy. */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const out = [...items];
  for (let i = out.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    const held = out[i]!;
    out[i] = out[j]!;
    out[j] = held;
  }
  return out;
}
