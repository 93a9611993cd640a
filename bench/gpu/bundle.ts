/**
 * Packs what measures a GPU on a machine that has no network: node, the package's sources, its kernels and the scripts.
 *
 *     node bench/gpu/bundle.ts OUT
 *
 * OUT/go.sh unpacks it, checks values against float64 references, and measures, with PyTorch and Transformers beside it where Python has them,
 * and with jax-js, TensorFlow.js and webgpu-llm where `npm install --ignore-scripts --prefix bench/gpu/peers` was run before packing.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "vite";

const out = process.argv[2];
if (out === undefined || out.startsWith("-")) {
  console.error("node bench/gpu/bundle.ts OUT\n  OUT: an empty or new folder");
  process.exit(out === "--help" ? 0 : 2);
}
if (existsSync(out) && readdirSync(out).length > 0) {
  console.error(`${out} is not empty: name an empty or new folder.`);
  process.exit(2);
}
const root = resolve(import.meta.dirname, "../..");
const stage = mkdtempSync(join(tmpdir(), "whetstone-gpu-"));
process.on("exit", () => rmSync(stage, { recursive: true, force: true }));

const from = (path: string): void =>
  cpSync(join(root, path), join(stage, path), { recursive: true, dereference: true });
for (const path of [
  "package.json",
  "src/core",
  "src/common",
  "src/tensor",
  "src/engine",
  "src/sandbox",
  "src/objective",
])
  from(path);
for (const path of ["test/tensor", "test/engine/local", "bench/gpu/measure.ts", "bench/gpu/tiles.ts"])
  from(path);

const peers = join(root, "bench/gpu/peers");
if (existsSync(join(peers, "node_modules"))) {
  // as one file, since TensorFlow.js alone takes 270 MB
  await build({
    root: peers,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true, external: ["webgpu"] },
    build: {
      ssr: "train.mjs",
      target: "esnext",
      outDir: join(stage, "bench/gpu/peers"),
      rolldownOptions: { output: { entryFileNames: "train.mjs" } },
    },
  });
} else {
  console.error(
    "Packed without jax-js, TensorFlow.js and webgpu-llm: npm install --ignore-scripts --prefix bench/gpu/peers brings them.",
  );
}

/** Packages that these need, with what they need in turn; of those with binaries this machine's alone. */
function copyPackage(name: string, seen = new Set<string>()): void {
  if (seen.has(name) || !existsSync(join(root, "node_modules", name))) return;
  seen.add(name);
  const folder = `node_modules/${name}`;
  mkdirSync(join(stage, folder), { recursive: true });
  cpSync(join(root, folder), join(stage, folder), {
    recursive: true,
    filter: (path) => !isForeign(path) && !/\.map$/.test(path),
  });
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  for (const next of Object.keys(dependencies)) copyPackage(next, seen);
}
const here = `${process.platform}-${process.arch}`;
function isForeign(path: string): boolean {
  const runtime = /onnxruntime-node\/bin\/napi-v\d+\/([a-z0-9]+)\/([a-z0-9]+)/.exec(path);
  if (runtime) return `${runtime[1]}-${runtime[2]}` !== here || /cuda|tensorrt/i.test(path);
  const dawn = /node_modules\/webgpu\/dist\/([a-z0-9]+-[a-z0-9]+)/.exec(path)?.[1];
  if (dawn !== undefined)
    return dawn !== here && !(process.platform === "darwin" && dawn === "darwin-universal");
  return /node_modules\/(debug|adm-zip|global-agent)\/(test|src\/test)/.test(path);
}
for (const name of [
  "webgpu",
  "onnxruntime-node",
  "onnxruntime-common",
  "zod",
  "@bufbuild/protobuf",
  "@huggingface/tokenizers",
  "@huggingface/jinja",
  "@huggingface/gguf",
  "quickjs-emscripten-core",
  "@jitl/quickjs-wasmfile-release-sync",
])
  copyPackage(name);
rmSync(join(stage, "node_modules/@webgpu"), { recursive: true, force: true });

mkdirSync(join(stage, "bin"));
cpSync(process.execPath, join(stage, "bin/node"), { dereference: true });
try {
  execFileSync("strip", [join(stage, "bin/node")]);
} catch {
  console.error("strip is missing: node is packed with its symbols.");
}
mkdirSync(out, { recursive: true });
execFileSync("tar", ["-C", stage, "-cJf", resolve(out, "whetstone.tar.xz"), "."], {
  env: { ...process.env, XZ_OPT: process.env.XZ_OPT ?? "-6 -T0" },
});
cpSync(join(root, "bench/gpu/go.sh"), join(out, "go.sh"));
cpSync(join(root, "bench/gpu/peers.py"), join(out, "peers.py"));
const size = readdirSync(out).reduce((n, name) => n + statSync(join(out, name)).size, 0);
writeFileSync(join(out, "README"), "Run ./go.sh; it needs no network. Results: results.jsonl beside it.\n");
console.log(
  `${out}: ${(size / 1e6).toFixed(1)} MB. Copy it to the machine with the GPU and run go.sh there.`,
);
