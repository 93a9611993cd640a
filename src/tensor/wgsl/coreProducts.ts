/** Products on tensor cores. */
import { sizeOf } from "../shape.ts";
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
  rowPadding,
  type Side,
  sidesOf,
} from "./productShape.ts";

/** Side of the square blocks that tensor cores multiply. */
const unit = 16;

/** A workgroup's tile, and how its subgroups share it. */
export interface CoreTile {
  readonly BM: number;
  readonly BN: number;
  /** Depth of the tiles in shared memory. */
  readonly BK: number;
  /** Subgroups, and how many of them stand side by side. */
  readonly subgroups: number;
  readonly across: number;
}

/**
 * Tiles, with the rate at which each works where it keeps the whole device busy, in TFLOP/s as `bench/gpu/tiles.ts` measured on an H200: large
 * ones read and convert less for each product. Only their order and their rough size matter.
 */
const tiles: readonly (CoreTile & { readonly rate: number })[] = [
  { BM: 192, BN: 192, BK: 32, subgroups: 8, across: 4, rate: 230 },
  { BM: 256, BN: 128, BK: 32, subgroups: 8, across: 2, rate: 200 },
  { BM: 128, BN: 192, BK: 32, subgroups: 8, across: 4, rate: 185 },
  { BM: 192, BN: 128, BK: 32, subgroups: 8, across: 4, rate: 180 },
  { BM: 128, BN: 128, BK: 32, subgroups: 8, across: 4, rate: 140 },
  { BM: 192, BN: 64, BK: 32, subgroups: 4, across: 2, rate: 100 },
  { BM: 96, BN: 96, BK: 32, subgroups: 4, across: 2, rate: 90 },
  { BM: 64, BN: 64, BK: 32, subgroups: 4, across: 2, rate: 88 },
];
/** Subgroups that a large device runs at once, eight for each of its processors. */
const atOnce = 8 * 128;
/** Bytes a second at which parts of a sum are written and joined. */
const joined = 3e12;

/** Seconds of a product by a tile, roughly: its last wave of workgroups takes as long as a full one. */
function secondsOf({ BM, BN, subgroups, rate }: (typeof tiles)[number], s: ProductShape): number {
  const { M, N, K, batch, splits } = s;
  const groups = over(M, BM) * over(N, BN) * countOf(s);
  const slots = atOnce / subgroups;
  const flops = 2 * BM * BN * (K / splits) * slots * over(groups, slots);
  const parts = splits > 1 ? 4 * (splits + 1) * M * N * sizeOf(batch.of) : 0;
  return flops / (rate * 1e12) + parts / joined;
}

/** The tile for tensor cores and its seconds, or undefined where the shape does not suit them. @param padded whether rows may be written up to {@link rowPadding}. */
function fastest(
  s: ProductShape,
  padded: boolean,
): { readonly tile: CoreTile; readonly seconds: number } | undefined {
  const { M, N, K, transposeA, transposeB, batch } = s;
  if (batch.of.length > 1 || K < 64 || M < 32) return undefined;
  if ((transposeA ? M : K) % 4 !== 0 || (transposeB ? K : N) % 4 !== 0) return undefined;
  const whole = !padded || countOf(s) > 1;
  return tiles
    .filter(({ BM, BN }) => N % BN === 0 && (M % BM === 0 || (!whole && rowPadding % BM === 0)))
    .map((tile) => ({ tile, seconds: secondsOf(tile, s) }))
    .toSorted((a, b) => a.seconds - b.seconds)[0];
}

export const coreTile = (s: ProductShape, padded: boolean): CoreTile | undefined => fastest(s, padded)?.tile;

/** Into how many parts the sum of a weight gradient is split on tensor cores, by its shape; undefined where it does not suit them. */
export function coreSplits(s: Omit<ProductShape, "splits">): number | undefined {
  const fits = [1, 2, 4, 8, 16]
    .filter((splits) => splits === 1 || (s.K % (64 * splits) === 0 && s.K / splits >= 256))
    .flatMap((splits) => {
      const seconds = fastest({ ...s, splits }, false)?.seconds;
      return seconds === undefined ? [] : [{ splits, seconds }];
    });
  return fits.toSorted((a, b) => a.seconds - b.seconds)[0]?.splits;
}

/** Loads of a thread from memory into registers, and from there as f16 into a tile of shared memory in the stored order. */
function coreLoader(
  side: Side,
  [BK, K, threads]: readonly [number, number, number],
  { shared, pitch: pitchOf, packed }: { shared: string; pitch: number; packed: boolean },
) {
  const { name, alongK, block, length, pitch, start, base } = side;
  const [rows, columns] = alongK ? [block, BK] : [BK, block];
  const perRow = columns / 4;
  const declare: string[] = [];
  const load: string[] = [];
  const store: string[] = [];
  for (const t of range((rows * perRow) / threads)) {
    const [r, c, v] = [`r${name}${t}`, `c${name}${t}`, `v${name}${t}`];
    declare.push(
      `let ${r} = (li + ${t * threads}u) / ${perRow}u; let ${c} = (li + ${t * threads}u) % ${perRow}u * 4u; var ${v}: vec4<f32>;`,
    );
    const [other, depth] = alongK
      ? [`(${start} + ${r})`, `(kt + ${c})`]
      : [`(${start} + ${c})`, `(kt + ${r})`];
    const [major, minor] = alongK ? [other, depth] : [depth, other];
    const guards = [
      ...(length % block === 0 ? [] : [`${other} < ${length}u`]),
      ...(K % BK === 0 ? [] : [`${depth} < ${K}u`]),
    ];
    const value = `${name}[(${base} + ${major} * ${pitch}u + ${minor}) / 4u]`;
    load.push(
      guards.length === 0
        ? `${v} = ${value};`
        : `if (${guards.join(" && ")}) { ${v} = ${value}; } else { ${v} = vec4<f32>(); }`,
    );
    const at = `half * ${rows * pitchOf}u + ${r} * ${pitchOf}u + ${c}`;
    store.push(
      packed
        ? `${shared}[(${at}) / 4u] = vec4<f16>(${v});`
        : range(4)
            .map((j) => `${shared}[${at} + ${j}u] = f16(${v}[${j}]);`)
            .join(" "),
    );
  }
  return {
    declare: declare.join("\n"),
    load: load.join("\n"),
    store: store.join("\n"),
    size: rows * pitchOf,
  };
}

/** Products on tensor cores: factors are rounded to f16 on their way into shared memory, and sums are f32. */
export function coreProduct(
  s: ProductShape,
  { BM, BN, BK, subgroups, across }: CoreTile,
  options: ProductOptions,
): ProductKernel {
  const { M, N, scale, plus } = s;
  const depth = depthOf(s);
  const threads = 32 * subgroups;
  const [SM, SN] = [BM / (subgroups / across), BN / across];
  const [down, right] = [range(SM / unit), range(SN / unit)];
  const [a, b] = sidesOf(s, BM, BN);
  const pad = 8; // rows of shared memory begin in different banks
  const pitchA = (a.alongK ? BK : BM) + pad;
  const pitchB = (b.alongK ? BK : BN) + pad;
  const { packed } = options;
  const sizes = [BK, depth, threads] as const;
  const loadA = coreLoader(a, sizes, { shared: "tileA", pitch: pitchA, packed });
  const loadB = coreLoader(b, sizes, { shared: "tileB", pitch: pitchB, packed });
  const [element, by] = packed ? ["vec4<f16>", 4] : ["f16", 1];
  const at = (index: string): string => (packed ? `(${index}) / 4u` : index);
  const halves = 2 * (loadA.size + loadB.size) * 2 <= options.sharedBytes ? 2 : 1;
  const left = `subgroup_matrix_left<f16, ${unit}, ${unit}>`;
  const rightType = `subgroup_matrix_right<f16, ${unit}, ${unit}>`;
  const sum = `subgroup_matrix_result<f32, ${unit}, ${unit}>`;
  const order = (turned: boolean): string => (turned ? "col_major" : "row_major");
  const place = (i: number, j: number): string =>
    `baseC + (m0 + wm + ${i * unit}u) * ${N}u + n0 + wn + ${j * unit}u`;
  const first = (i: number, j: number): string =>
    plus !== "nothing"
      ? `var c${i}_${j} = subgroupMatrixLoad<${sum}, row_major>(&${plus === "result" ? "c" : "r"}, ${place(i, j)}, ${N}u);`
      : `var c${i}_${j} = ${sum}();`;
  const blocks = (f: (i: number, j: number) => string): string =>
    down.flatMap((i) => right.map((j) => f(i, j))).join("\n");
  const depths = range(BK / unit).map((d) => {
    const atA = (i: number): string =>
      a.alongK
        ? `(wm + ${i * unit}u) * ${pitchA}u + ${d * unit}u`
        : `${d * unit * pitchA}u + wm + ${i * unit}u`;
    const atB = (j: number): string =>
      b.alongK
        ? `(wn + ${j * unit}u) * ${pitchB}u + ${d * unit}u`
        : `${d * unit * pitchB}u + wn + ${j * unit}u`;
    return `{
${down.map((i) => `let a${i} = subgroupMatrixLoad<${left}, ${order(!a.alongK)}>(&tileA, ${at(`half * ${loadA.size}u + ${atA(i)}`)}, ${pitchA / by}u);`).join("\n")}
${right.map((j) => `let b${j} = subgroupMatrixLoad<${rightType}, ${order(b.alongK)}>(&tileB, ${at(`half * ${loadB.size}u + ${atB(j)}`)}, ${pitchB / by}u);`).join("\n")}
${blocks((i, j) => `c${i}_${j} = subgroupMatrixMultiplyAccumulate(a${i}, b${j}, c${i}_${j});`)}
}`;
  });
  const scaled = (i: number, j: number): string =>
    scale === 1 ? "" : `c${i}_${j} = subgroupMatrixScalarMultiply(c${i}_${j}, f32(${scale}));`;
  const code = `
enable f16; enable subgroups; enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;
${bindingsOfResult(s, "f32")}
var<workgroup> tileA: array<${element}, ${(halves * loadA.size) / by}>;
var<workgroup> tileB: array<${element}, ${(halves * loadB.size) / by}>;
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) li: u32, @builtin(subgroup_id) sg: u32) {
  let m0 = wg.y * ${BM}u; let n0 = wg.x * ${BN}u;
  let baseA = ${baseOf(a, s.batch.a, s)}; let baseB = ${baseOf(b, s.batch.b, s)};
  let baseC = wg.z * ${M * N}u;
  let wm = (sg / ${across}u) * ${SM}u; let wn = (sg % ${across}u) * ${SN}u;
  ${blocks(first)}
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
    ${depths.join("\n")}
    if (!more) { break; }
    ${halves === 2 ? "half = 1u - half;" : "workgroupBarrier();"}
    ${loadA.store} ${loadB.store}
    workgroupBarrier();
  }
  ${blocks((i, j) => `${scaled(i, j)} subgroupMatrixStore<row_major>(&c, ${place(i, j)}, c${i}_${j}, ${N}u);`)}
}`;
  return { code, groups: [N / BN, over(M, BM), countOf(s)] };
}
