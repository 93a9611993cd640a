/**
 * Libraries from npm that train on WebGPU, on this machine's adapter: the steps of bench/gpu/measure.ts (rows of 192 tokens, forward,
 * backward, AdamW, the loss read back) of a decoder of the same shape. One JSON line.
 *
 *     npm install --ignore-scripts --prefix bench/gpu/peers
 *     node bench/gpu/peers/train.mjs jax-js | tfjs | webgpu-llm SIZE ROWS
 *
 * WHETSTONE_SOFTWARE_GPU=1 takes few steps, for a software adapter.
 */
const software = process.env.WHETSTONE_SOFTWARE_GPU === "1";
const T = 192;
const shapes = {
  // vocabulary, width, layers, heads, heads of keys and values, feed-forward
  tiny: [64, 32, 1, 2, 1, 64],
  "0.5M": [512, 128, 2, 4, 4, 320],
  "25M": [2048, 512, 8, 8, 8, 1280],
  "135M": [49152, 576, 30, 9, 3, 1536],
};
const rate = 1e-4;
const [beta1, beta2, decay, tiny] = [0.9, 0.95, 0.01, 1e-8];

const [peer, size, rowsSaid] = process.argv.slice(2);
const rows = Number(rowsSaid);
const peers = { "jax-js": jaxJs, tfjs: tensorFlow, "webgpu-llm": webgpuLlm };
if (!Object.hasOwn(peers, peer) || !Object.hasOwn(shapes, size) || !(rows > 0)) {
  console.error(
    `node bench/gpu/peers/train.mjs ${Object.keys(peers).join(" | ")} ${Object.keys(shapes).join(" | ")} ROWS`,
  );
  process.exit(2);
}
const [V, D, L, H, KV, F] = shapes[size];
const headWidth = D / H;
const tokens = Int32Array.from({ length: rows * T }, (_, i) => (Math.imul(i + 1, 40_503) >>> 3) % V);
const targets = Int32Array.from({ length: rows * T }, (_, i) => (Math.imul(i + 2, 40_503) >>> 3) % V);

const { create, globals } = await import("webgpu");
Object.assign(globalThis, globals);
const toggles = ["allow_unsafe_apis", "vulkan_enable_f16_on_nvidia", "use_vulkan_memory_model"];
if (!software) toggles.push("disable_robustness", "skip_validation", "disable_workgroup_init");
const gpu = create([`enable-dawn-features=${toggles.join(",")}`]);
Object.defineProperty(globalThis.navigator, "gpu", { value: gpu });
const keptAwake = setInterval(() => {}, 1 << 30);

/** Names and shapes of the weights, products as [in, out]. */
const weightShapes = Object.fromEntries([
  ["embed", [V, D]],
  ["norm", [D]],
  ...Array.from({ length: L }, (_, l) =>
    Object.entries({
      norm1: [D],
      q: [D, D],
      k: [D, KV * headWidth],
      v: [D, KV * headWidth],
      o: [D, D],
      norm2: [D],
      gate: [D, F],
      up: [D, F],
      down: [F, D],
    }).map(([name, shape]) => [`${l}.${name}`, shape]),
  ).flat(),
]);
const isProduct = (name) => !name.includes("norm");
const elements = (shape) => shape.reduce((n, d) => n * d, 1);
let drawn = 0;
const firstValues = (name, shape) =>
  Float32Array.from({ length: elements(shape) }, () =>
    isProduct(name) ? 0.05 * Math.sin(++drawn * 12.9898) : 1,
  );
const angles = Float32Array.from(
  { length: T * headWidth },
  (_, i) => Math.floor(i / headWidth) * 10_000 ** ((-2 * (i % (headWidth / 2))) / headWidth),
);

/** jax-js: the step as one compiled function. Its arrays are used up by what reads them; `ref` keeps one. */
async function jaxJs() {
  const { numpy: np, nn, jit, valueAndGrad, init, defaultDevice } = await import("@jax-js/jax");
  if (!(await init("webgpu")).includes("webgpu")) throw new Error("jax-js found no adapter");
  defaultDevice("webgpu");
  const norm = (x, w) => x.ref.div(np.sqrt(np.square(x).mean(-1, { keepdims: true }).add(1e-5))).mul(w);
  const turn = (x, cos, sin) => {
    const [a, b] = np.split(x.ref, 2, -1);
    return x.mul(cos).add(np.concatenate([b.mul(-1), a], -1).mul(sin));
  };
  const loss = (p, given, wanted, cos, sin) => {
    // a product with one-hot rows, since what it compiles can hold no gradient of a lookup
    let x = np.matmul(given, p.embed.ref);
    for (let l = 0; l < L; l++) {
      const w = (name) => p[`${l}.${name}`];
      const h = norm(x.ref, w("norm1"));
      const split = (name, heads) => np.matmul(h.ref, w(name)).reshape([rows, T, heads, headWidth]);
      const q = turn(split("q", H), cos.ref, sin.ref);
      const k = turn(split("k", KV), cos.ref, sin.ref);
      const seen = nn.dotProductAttention(q, k, split("v", KV), { isCausal: true });
      h.dispose();
      x = x.add(np.matmul(seen.reshape([rows, T, D]), w("o")));
      const g = norm(x.ref, w("norm2"));
      const inner = nn.silu(np.matmul(g.ref, w("gate"))).mul(np.matmul(g, w("up")));
      x = x.add(np.matmul(inner, w("down")));
    }
    for (const one of [cos, sin]) one.dispose();
    const logits = np.matmul(norm(x, p.norm), np.transpose(p.embed)).reshape([rows * T, V]);
    return nn
      .logSoftmax(logits, -1)
      .mul(wanted)
      .sum()
      .mul(-1 / (rows * T));
  };
  const step = jit((p, m, v, t, given, wanted, cos, sin) => {
    const kept = Object.fromEntries(Object.entries(p).map(([name, x]) => [name, x.ref]));
    const [value, gradient] = valueAndGrad(loss)(kept, given, wanted, cos, sin);
    const [c1, c2] = [beta1, beta2].map((b) => np.power(b, t.ref).mul(-1).add(1));
    t.dispose();
    const next = [{}, {}, {}];
    for (const name of Object.keys(p)) {
      const g = gradient[name];
      const m1 = m[name].mul(beta1).add(g.ref.mul(1 - beta1));
      const v1 = v[name].mul(beta2).add(np.square(g).mul(1 - beta2));
      const moved = m1.ref.div(c1.ref).div(np.sqrt(v1.ref.div(c2.ref)).add(tiny));
      const shrunk = p[name].mul(isProduct(name) ? 1 - rate * decay : 1);
      next[0][name] = shrunk.sub(moved.mul(rate));
      next[1][name] = m1;
      next[2][name] = v1;
    }
    for (const one of [c1, c2]) one.dispose();
    return [value, ...next];
  });
  const all = (make) =>
    Object.fromEntries(Object.entries(weightShapes).map(([name, shape]) => [name, make(name, shape)]));
  let p = all((name, shape) => np.array(firstValues(name, shape)).reshape(shape));
  let [m, v] = [0, 1].map(() => all((_, shape) => np.zeros(shape)));
  const hot = (ids) => nn.oneHot(np.array(ids, { dtype: np.int32 }), V);
  const given = hot(tokens).reshape([rows, T, V]);
  const wanted = hot(targets);
  const [cos, sin] = [Math.cos, Math.sin].map((f) => np.array(angles.map(f)).reshape([T, 1, headWidth]));
  let t = 0;
  return async () => {
    const out = step(p, m, v, np.array([++t]), given.ref, wanted.ref, cos.ref, sin.ref);
    [p, m, v] = out.slice(1);
    return (await out[0].data())[0];
  };
}

/** TensorFlow.js: eager, with its own Adam, since it has no AdamW. */
async function tensorFlow() {
  const tf = await import("@tensorflow/tfjs");
  const { WebGPUBackend } = await import("@tensorflow/tfjs-backend-webgpu");
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  const limits = [
    "maxComputeWorkgroupStorageSize",
    "maxComputeWorkgroupsPerDimension",
    "maxStorageBufferBindingSize",
    "maxBufferSize",
    "maxComputeWorkgroupSizeX",
    "maxComputeInvocationsPerWorkgroup",
  ];
  const requiredLimits = Object.fromEntries(limits.map((k) => [k, adapter.limits[k]]));
  const device = await adapter.requestDevice({ requiredLimits });
  // its own way of opening an adapter needs a page
  tf.registerBackend("opened", () => new WebGPUBackend(device, adapter.info));
  for (const kernel of tf.getKernelsForBackend("webgpu"))
    tf.registerKernel({ ...kernel, backendName: "opened" });
  await tf.setBackend("opened");
  const { add, concat, matMul, mul, reshape, split, transpose } = tf;
  const p = Object.fromEntries(
    Object.entries(weightShapes).map(([name, shape]) => [
      name,
      tf.variable(tf.tensor(firstValues(name, shape), shape), true, name),
    ]),
  );
  const given = tf.tensor1d(tokens, "int32");
  const hot = tf.oneHot(tf.tensor1d(targets, "int32"), V, 1, 0, "float32");
  const [cos, sin] = [Math.cos, Math.sin].map((f) => tf.tensor(angles.map(f), [1, 1, T, headWidth]));
  const causal = Float32Array.from({ length: T * T }, (_, i) => (i % T > Math.floor(i / T) ? -1e9 : 0));
  const mask = tf.tensor(causal, [T, T]);
  const norm = (x, w) => mul(mul(x, tf.rsqrt(add(tf.mean(tf.square(x), -1, true), 1e-5))), w);
  const turn = (x) => {
    const [a, b] = split(x, 2, -1);
    return add(mul(x, cos), mul(concat([tf.neg(b), a], -1), sin));
  };
  const heads = (x, n) => transpose(reshape(x, [rows, T, n, headWidth]), [0, 2, 1, 3]);
  const spread = (x) =>
    reshape(tf.tile(reshape(x, [rows * KV, 1, T * headWidth]), [1, H / KV, 1]), [rows, H, T, headWidth]);
  const loss = () => {
    let x = tf.gather(p.embed, given);
    for (let l = 0; l < L; l++) {
      const w = (name) => p[`${l}.${name}`];
      const h = norm(x, w("norm1"));
      const q = turn(heads(matMul(h, w("q")), H));
      const k = spread(turn(heads(matMul(h, w("k")), KV)));
      const v = spread(heads(matMul(h, w("v")), KV));
      const scores = add(mul(matMul(q, k, false, true), headWidth ** -0.5), mask);
      const seen = transpose(matMul(tf.softmax(scores), v), [0, 2, 1, 3]);
      x = add(x, matMul(reshape(seen, [rows * T, D]), w("o")));
      const g = norm(x, w("norm2"));
      const gate = matMul(g, w("gate"));
      const inner = mul(mul(gate, tf.sigmoid(gate)), matMul(g, w("up")));
      x = add(x, matMul(inner, w("down")));
    }
    const logits = matMul(norm(x, p.norm), p.embed, false, true);
    return mul(tf.sum(mul(tf.logSoftmax(logits), hot)), -1 / (rows * T));
  };
  const optimizer = tf.train.adam(rate, beta1, beta2, tiny);
  return async () => {
    const value = optimizer.minimize(loss, true);
    const [read] = await value.data();
    value.dispose();
    return read;
  };
}

/** webgpu-llm, which takes one row at a time and reads each loss back: gradients are summed, then AdamW. Its weights in 16 bits where its layout can. */
async function webgpuLlm() {
  const { LLMEngine, Model } = await import("webgpu-llm/llm");
  const engine = await new LLMEngine().init();
  const shape = { d_model: D, n_heads: H, n_kv_heads: KV, n_layers: L, d_ff: F, head_dim: headWidth };
  const more = { kv_dim: KV * headWidth, vocab_size: V, seq_len: T, rms_eps: 1e-5, rope_base: 10_000 };
  const model = new Model(engine, { ...shape, ...more, activation: "swiglu", precision: precisionOf(peer) });
  model.allocate();
  model.allocActivations();
  model.allocBackward();
  const row = (from, i) => Uint32Array.from(from.subarray(i * T, (i + 1) * T));
  return async () => {
    let sum = 0;
    for (let i = 0; i < rows; i++) {
      sum += await model.forwardLoss(row(tokens, i), row(targets, i));
      await model.backward(row(tokens, i), i > 0);
    }
    await model.step({ lr: rate, beta1, beta2, weight_decay: decay, grad_clip: 1e9 }, rows);
    return sum / rows;
  };
}

function precisionOf(name) {
  return name === "webgpu-llm" && D % 128 === 0 ? "mixed" : "f32";
}

const step = await peers[peer]();
const losses = [];
const begun = performance.now();
losses.push(await step());
const first = performance.now();
for (let i = 0; i < 2; i++) losses.push(await step());
const seconds = [];
const until = performance.now() + (software ? 1 : 4000);
do {
  const start = performance.now();
  losses.push(await step());
  seconds.push((performance.now() - start) / 1000);
} while (performance.now() < until || seconds.length < 3);
const s = seconds.sort((a, b) => a - b)[seconds.length >> 1];
console.log(
  JSON.stringify({
    peer,
    train: size,
    precision: precisionOf(peer),
    rows,
    differs: {
      "jax-js": "the embedding is a product with one-hot rows",
      tfjs: "Adam without weight decay",
      "webgpu-llm": "a row at a time; its own first weights",
    }[peer],
    tokensPerSecond: (rows * T) / s,
    ms: 1000 * s,
    steps: seconds.length,
    firstStepSeconds: (first - begun) / 1000,
    losses: [losses[0], losses.at(-1)],
  }),
);
clearInterval(keptAwake);
process.exit();
