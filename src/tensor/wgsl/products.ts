/**
 * Kernels of matrix products. Each thread adds up its elements of the result in ascending order of k, whatever the tile, so a row
 * of a product has the same bits in a batch of any size.
 */
import { coreProduct, coreSplits, coreTile } from "./coreProducts.ts";
import {
  baseOf,
  bindingsOfResult,
  countOf,
  depthOf,
  over,
  type ProductKernel,
  type ProductOptions,
  type ProductShape,
  range,
  type Side,
  sidesOf,
} from "./productShape.ts";

export { type ProductOptions, type ProductShape, roomFor } from "./productShape.ts";

export interface Tile {
  /** Rows, columns and depth of a workgroup's tile. */
  readonly BM: number;
  readonly BN: number;
  readonly BK: number;
  /** Rows and columns of a thread. */
  readonly TM: number;
  readonly TN: number;
}

function tileOf(s: ProductShape): Tile {
  const { M, N, transposeA, transposeB } = s;
  if (M <= 32) return { BM: 32, BN: 32, BK: 32, TM: 4, TN: 4 };
  const across = over(M, 128) * countOf(s);
  // as bench/gpu/tiles.ts measured: b is read along N without being turned, and a wider tile reads less of it
  if (M >= 128 && N >= 128 && !transposeA && !transposeB && across * over(N, 128) >= 100)
    return { BM: 128, BN: 128, BK: 8, TM: 8, TN: 8 };
  if (M >= 128 && N >= 64 && across * over(N, 64) >= 100) return { BM: 128, BN: 64, BK: 16, TM: 8, TN: 4 };
  return { BM: 64, BN: 64, BK: 32, TM: 4, TN: 4 };
}

const elementOf = (side: Side): string => (side.wide ? "vec4<f32>" : "f32");

/** Functions that read four neighbours, or fewer at an edge, of a factor that cannot be read four at once. */
const narrowReader = ({ name }: Side): string => `
fn four_${name}(at: u32, count: u32) -> vec4<f32> {
  var v = vec4<f32>();
  for (var j = 0u; j < count; j++) { v[j] = ${name}[at + j]; }
  return v;
}`;

/**
 * Statements that load a thread's 4 × 4 blocks of a tile into registers, and from there into shared memory, transposed so that
 * the tile is [BK][block].
 */
function loader(side: Side, BK: number, K: number, threads: number, shared: string) {
  const { name, alongK, block, length, pitch, start, base, wide } = side;
  const blocks = (block * BK) / 16;
  const declare: string[] = [];
  const load: string[] = [];
  const store: string[] = [];
  for (const t of range(over(blocks, threads))) {
    const [k, x] = [`k${name}${t}`, `x${name}${t}`];
    const index = `(li + ${t * threads}u)`;
    declare.push(
      // eight threads side by side write neighbours, which are in different banks; four such groups read one line of memory
      alongK
        ? `let ${k} = (${index} / 8u) % ${BK / 4}u * 4u; let ${x} = (${index} % 8u + ${index} / ${2 * BK}u * 8u) * 4u;`
        : `let ${k} = ${index} / ${block / 4}u * 4u; let ${x} = ${index} % ${block / 4}u * 4u;`,
    );
    const registers = range(4).map((j) => `r${name}${t}_${j}`);
    declare.push(...registers.map((r) => `var ${r}: vec4<f32>;`));
    const reads = registers.map((r, j) => {
      const [row, depth] = alongK
        ? [`(${start} + ${x} + ${j}u)`, `(kt + ${k})`]
        : [`(${start} + ${x})`, `(kt + ${k} + ${j}u)`];
      const [major, minor] = alongK ? [row, depth] : [depth, row];
      const at = `${base} + ${major} * ${pitch}u + ${minor}`;
      const [end, most] = alongK ? [depth, K] : [row, length];
      const value = wide ? `${name}[(${at}) / 4u]` : `four_${name}(${at}, min(4u, ${most}u - ${end}))`;
      const guards = [
        ...(length % block === 0 ? [] : [`${row} < ${length}u`]),
        ...(K % BK === 0 ? [] : [`${depth} < ${K}u`]),
      ];
      return guards.length === 0
        ? `${r} = ${value};`
        : `if (${guards.join(" && ")}) { ${r} = ${value}; } else { ${r} = vec4<f32>(); }`;
    });
    const writes = range(4).map((j) => {
      const at = `half * ${(BK * block) / 4}u + (${k} + ${j}u) * ${block / 4}u + ${x} / 4u`;
      const value = alongK ? `vec4<f32>(${registers.map((r) => `${r}[${j}]`).join(", ")})` : registers[j];
      return `${shared}[${at}] = ${value};`;
    });
    const inside = (statements: string[]): string =>
      (t + 1) * threads <= blocks
        ? statements.join("\n")
        : `if (${index} < ${blocks}u) { ${statements.join("\n")} }`;
    load.push(inside(reads));
    store.push(inside(writes));
  }
  return { declare: declare.join("\n"), load: load.join("\n"), store: store.join("\n") };
}

/** Products in f32 by tiles in registers, with the next tile loaded while this one is used. */
export function f32Product(s: ProductShape, options: ProductOptions, tile = tileOf(s)): ProductKernel {
  const { M, N, batch, scale, plus } = s;
  const depth = depthOf(s);
  const { BM, BN, BK, TM, TN } = tile;
  const [across, threads] = [BN / TN, (BM / TM) * (BN / TN)];
  const [a, b] = sidesOf(s, BM, BN);
  const halves = 2 * (BM + BN) * BK * 4 <= options.sharedBytes ? 2 : 1;
  const [loadA, loadB] = [loader(a, BK, depth, threads, "tileA"), loader(b, BK, depth, threads, "tileB")];
  const [rowGroups, columnGroups] = [range(TM / 4), range(TN / 4)];
  const wide = N % 4 === 0;
  const multiply = rowGroups
    .flatMap((r) => range(4).map((i) => ({ r, i })))
    .flatMap(({ r, i }) =>
      columnGroups.map(
        (c) => `c${4 * r + i}_${c} = fma(vec4<f32>(fa${r}[${i}]), fb${c}, c${4 * r + i}_${c});`,
      ),
    )
    .join("\n");
  const write = (row: string, column: string, value: string): string => {
    const scaled = scale === 1 ? value : `${value} * f32(${scale})`;
    const before = (at: string): string =>
      plus === "nothing" ? "" : plus === "result" ? `c[${at}] + ` : `r[${at}] + `;
    const sum = (at: string, x: string): string => `c[${at}] = ${before(at)}${x};`;
    if (wide)
      return `if (${column} < ${N}u) { let o = (baseC + ${row} * ${N}u + ${column}) / 4u; ${sum("o", scaled)} }`;
    return `{ let v = ${scaled}; let o = baseC + ${row} * ${N}u + ${column};
for (var j = 0u; j < 4u; j++) { if (${column} + j < ${N}u) { ${sum("o + j", "v[j]")} } } }`;
  };
  const results = range(TM).map((i) => {
    const row = `(m0 + ${((i >> 2) * BM) / rowGroups.length + (i & 3)}u + ty * 4u)`;
    const columns = columnGroups.map((c) =>
      write("row", `(n0 + ${(c * BN) / columnGroups.length}u + tx * 4u)`, `c${i}_${c}`),
    );
    return `{ let row = ${row}; if (row < ${M}u) { ${columns.join("\n")} } }`;
  });
  const code = `
@group(0) @binding(0) var<storage, read> a: array<${elementOf(a)}>;
@group(0) @binding(1) var<storage, read> b: array<${elementOf(b)}>;
${bindingsOfResult(s, wide ? "vec4<f32>" : "f32")}
var<workgroup> tileA: array<vec4<f32>, ${(halves * BK * BM) / 4}>;
var<workgroup> tileB: array<vec4<f32>, ${(halves * BK * BN) / 4}>;
${[a, b]
  .filter((side) => !side.wide)
  .map(narrowReader)
  .join("")}
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) li: u32) {
  let m0 = wg.y * ${BM}u; let n0 = wg.x * ${BN}u;
  let baseA = ${baseOf(a, batch.a, s)}; let baseB = ${baseOf(b, batch.b, s)};
  let baseC = wg.z * ${M * N}u;
  let tx = li % ${across}u; let ty = li / ${across}u;
  ${range(TM)
    .flatMap((i) => columnGroups.map((c) => `var c${i}_${c} = vec4<f32>();`))
    .join(" ")}
  ${loadA.declare}
  ${loadB.declare}
  var half = 0u; var kt = 0u;
  ${loadA.load} ${loadB.load}
  ${loadA.store} ${loadB.store}
  workgroupBarrier();
  loop {
    kt += ${BK}u;
    let more = kt < ${depth}u;
    if (more) { ${loadA.load} ${loadB.load} }
    for (var k = 0u; k < ${BK}u; k++) {
      let ao = half * ${(BK * BM) / 4}u + k * ${BM / 4}u + ty;
      let bo = half * ${(BK * BN) / 4}u + k * ${BN / 4}u + tx;
      ${rowGroups.map((r) => `let fa${r} = tileA[ao + ${(r * BM) / 4 / rowGroups.length}u];`).join(" ")}
      ${columnGroups.map((c) => `let fb${c} = tileB[bo + ${(c * BN) / 4 / columnGroups.length}u];`).join(" ")}
      ${multiply}
    }
    if (!more) { break; }
    ${halves === 2 ? "half = 1u - half;" : "workgroupBarrier();"}
    ${loadA.store} ${loadB.store}
    workgroupBarrier();
  }
  ${results.join("\n")}
}`;
  return { code, groups: [over(N, BN), over(M, BM), countOf(s)] };
}

/** Products by a thread for each element. */
function plainProduct(s: ProductShape): ProductKernel {
  const { M, N, batch, scale, plus } = s;
  const [a, b] = sidesOf(s, 1, 1);
  const at = ({ alongK, pitch }: Side, x: string): string =>
    alongK ? `${x} * ${pitch}u + k` : `k * ${pitch}u + ${x}`;
  const before = plus === "nothing" ? "" : plus === "result" ? "c[o] + " : "r[o] + ";
  const code = `
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
${bindingsOfResult(s, "f32")}
@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_id) own: vec3<u32>) {
  let row = wg.y * 8u + own.y; let column = wg.x * 8u + own.x;
  if (row >= ${M}u || column >= ${N}u) { return; }
  let baseA = ${baseOf(a, batch.a, s)}; let baseB = ${baseOf(b, batch.b, s)};
  var sum = 0.0;
  for (var k = 0u; k < ${depthOf(s)}u; k++) { sum = fma(a[baseA + ${at(a, "row")}], b[baseB + ${at(b, "column")}], sum); }
  let o = wg.z * ${M * N}u + row * ${N}u + column;
  c[o] = ${before}sum${scale === 1 ? "" : ` * f32(${scale})`};
}`;
  return { code, groups: [over(N, 8), over(M, 8), countOf(s)] };
}

/** Workgroups that keep a large GPU busy. */
const enough = 128;
/** Depth of the tiles of products of few rows. */
const shallow = 32;

/** Most rows of a product whose sum over K is split by the shape of the weights alone. */
export const mostFewRows = 128;

/**
 * Into how many parts the sum over K is split, so that a small result keeps the device busy. For weight gradients, aᵀ b, it
 * depends on the shape; for products of few rows, x Wᵀ, on the shape of W alone, so that a row has the same bits among any
 * number of rows.
 */
export function splitsOf(
  s: Omit<ProductShape, "splits">,
  { tiles, precision, fewRows = false }: Pick<ProductOptions, "tiles" | "precision" | "fewRows">,
): number {
  const { M, N, K, batch, transposeA, transposeB } = s;
  if (batch.of.length > 0) return 1;
  if (fewRows && !transposeA && transposeB && M <= mostFewRows && K % shallow === 0) {
    const deep = K / shallow;
    const columns = over(N, 32);
    // the fewest parts that keep the device busy
    const fits = range(16)
      .map((i) => i + 1)
      .filter((n) => deep % n === 0 && deep / n >= 2);
    return fits.find((n) => columns * n >= 2 * enough) ?? fits.at(-1) ?? 1;
  }
  if (tiles === "none" || !transposeA || transposeB) return 1;
  const onCores = precision === "f16" ? coreSplits(s) : undefined;
  if (onCores !== undefined) return onCores;
  let splits = 1;
  while (
    over(M, 128) * over(N, 64) * splits < 4 * enough &&
    splits < 16 &&
    K % (splits * 64) === 0 &&
    K / (splits * 2) >= 256
  ) {
    splits *= 2;
  }
  return splits;
}

/** @param padded whether the result has room for whole tiles of rows. */
export function product(s: ProductShape, options: ProductOptions, padded: boolean): ProductKernel {
  if (options.tiles === "none") return plainProduct(s);
  const plain = s.plus === "nothing" || s.scale === 1;
  const tile = options.precision === "f16" && plain ? coreTile(s, padded) : undefined;
  return tile ? coreProduct(s, tile, options) : f32Product(s, options);
}
