/** Products on tensor cores. */
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

/** Side of the square blocks that tensor cores multiply. */
const unit = 16;

/** The tile for tensor cores, or undefined where the shape does not suit them. */
export function coreTile(
  s: ProductShape,
  padded: boolean,
): { readonly BM: number; readonly BN: number } | undefined {
  const { M, N, K, transposeA, transposeB, batch } = s;
  const count = countOf(s);
  if (batch.of.length > 1 || K < 64 || M < 32) return undefined;
  if ((transposeA ? M : K) % 4 !== 0 || (transposeB ? K : N) % 4 !== 0) return undefined;
  const sizes = [
    [128, 128],
    [128, 64],
    [64, 128],
    [64, 64],
  ] as const;
  for (const [BM, BN] of sizes) {
    if (N % BN !== 0 || ((!padded || count > 1) && M % BM !== 0)) continue;
    if (over(M, BM) * (N / BN) * count < 128 && (BM > 64 || BN > 64)) continue;
    return { BM, BN };
  }
  return undefined;
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
  { BM, BN }: { BM: number; BN: number },
  options: ProductOptions,
): ProductKernel {
  const { M, N, scale, plus } = s;
  const depth = depthOf(s);
  const BK = 32;
  const subgroups = BM * BN >= 16384 ? 8 : 4;
  const threads = 32 * subgroups;
  const across = subgroups === 8 ? 4 : 2;
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
