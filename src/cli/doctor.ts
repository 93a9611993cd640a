/** `whetstone doctor`: what this machine can do, and what is missing, with the fix. */
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, cpus, freemem, tmpdir, totalmem } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { gibibytes } from "../common/text/gibibytes.ts";
import { messageOf } from "../core/errors.ts";
import { openRunStore } from "../store/runStore.ts";
import { nodeTooOld } from "./nodeVersion.ts";
import { addCommand, folded, type Io, paint } from "./output.ts";

interface Finding {
  readonly what: string;
  /** "note": it works, but could be better. */
  readonly state: "ok" | "note" | "missing";
  readonly found: string;
  /** How to fix a problem: one imperative sentence. */
  readonly fix?: string;
}

export function addDoctor(program: Command, io: Io): void {
  addCommand(program, "doctor", "Report what this machine supports, and what is missing.", [
    "whetstone doctor",
    "whetstone doctor --out /data/runs",
  ])
    .option("--out <folder>", "folder for runs", "runs")
    .action(async ({ out }: { out: string }) => {
      const findings = [
        node(),
        processor(),
        memory(),
        await onnx(),
        ...(await accelerators()),
        disk(out),
        folder(out),
        await sqlite(),
      ];
      for (const f of findings) {
        io.record(f);
        const mark = {
          ok: paint(io, "green", "✔"),
          note: paint(io, "yellow", "•"),
          missing: paint(io, "red", "✘"),
        }[f.state];
        io.say(
          ...folded(io, `${mark} ${f.what.padEnd(13)} ${f.found}`),
          ...(f.fix ? folded(io, `  ${" ".repeat(13)} ${f.fix}`) : []),
        );
      }
      if (findings.some((f) => f.state === "missing")) io.code = 1;
    });
}

function node(): Finding {
  const tooOld = nodeTooOld();
  const found = process.versions.node;
  if (tooOld) return { what: "Node", state: "missing", found, fix: "Install Node 22.18 or newer." };
  if (process.features.typescript) return { what: "Node", state: "ok", found };
  const fix =
    "Install Node 24 to write configs and environments in TypeScript: this version cannot run TypeScript.";
  return { what: "Node", state: "note", found, fix };
}

function processor(): Finding {
  const model = cpus()[0]?.model.trim() || process.arch;
  const flags = existsSync("/proc/cpuinfo")
    ? (/^flags\s*:(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "")
    : "";
  const features = ["avx2", "fma", "avx512f", "amx_tile"].filter((f) => ` ${flags} `.includes(` ${f} `));
  const found = [`${availableParallelism()} cores`, model, process.arch, ...features].join(", ");
  if (process.arch === "x64" && flags !== "" && !features.includes("avx2")) {
    return {
      what: "processor",
      state: "note",
      found,
      fix: "Expect slow training: this processor lacks AVX2.",
    };
  }
  return { what: "processor", state: "ok", found };
}

function memory(): Finding {
  // in a container the limit counts, not the machine
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  const found = `${gibibytes(total)}, ${gibibytes(Math.min(freemem(), process.availableMemory()))} free`;
  if (total >= 2 * 2 ** 30) return { what: "memory", state: "ok", found };
  return {
    what: "memory",
    state: "note",
    found,
    fix: "Use small models: 2 GiB are enough for the main job.",
  };
}

async function onnx(): Promise<Finding> {
  try {
    const runtime = await import("onnxruntime-node");
    const { listSupportedBackends, env } = runtime.default ?? runtime;
    const backends = listSupportedBackends().map((b) => `${b.name}${b.bundled ? "" : " (not bundled)"}`);
    return {
      what: "ONNX Runtime",
      state: "ok",
      found: [env.versions.node ?? env.versions.common, ...backends].join(", "),
    };
  } catch (e) {
    const found = messageOf(e).split("\n")[0]!;
    const { bringRuntime } = await import("../engine/local/runtime.ts");
    return { what: "ONNX Runtime", state: "missing", found, fix: bringRuntime };
  }
}

/** What a GPU needs on each system. */
const bringGpu =
  "Only if you want one: npm install webgpu@0.6.2, and a graphics driver. Linux: libvulkan1 (Debian, Ubuntu) or vulkan-loader (Fedora), with the card's own driver; macOS and Windows bring theirs.";

/** What could compute besides the processor. Optional, so that its absence is no more than a note. */
async function accelerators(): Promise<Finding[]> {
  const { devices, tryDevice } = await import("../engine/local/devices.ts");
  const others = devices.filter((device) => device !== "cpu");
  const tried = await Promise.all(others.map(tryDevice));
  return tried.map(({ device, works, reason, about }) => ({
    what: device,
    state: works ? "ok" : "note",
    found: works
      ? `computes: --device ${device}${about ? ` (${about})` : ""}`
      : `not on this machine: ${reason}`,
    ...(device === "gpu" && !works && { fix: bringGpu }),
  }));
}

/** The folder, or the nearest above it that is there. */
function nearestFolder(path: string): string {
  let at = resolve(path);
  while (!existsSync(at)) at = dirname(at);
  return at;
}

function disk(out: string): Finding {
  const { bavail, bsize } = statfsSync(nearestFolder(out));
  const free = bavail * bsize;
  const found = `${gibibytes(free)} free`;
  if (free >= 2 ** 30) return { what: "disk", state: "ok", found };
  return {
    what: "disk",
    state: free < 2 ** 27 ? "missing" : "note",
    found,
    fix: "Free some space, or choose another --out.",
  };
}

function folder(out: string): Finding {
  const found = resolve(out);
  try {
    accessSync(nearestFolder(out), constants.W_OK);
    return { what: "runs folder", state: "ok", found };
  } catch {
    return {
      what: "runs folder",
      state: "missing",
      found: `${found} is not writable`,
      fix: "Choose another --out.",
    };
  }
}

async function sqlite(): Promise<Finding> {
  const place = mkdtempSync(join(tmpdir(), "whetstone-doctor-"));
  try {
    const store = await openRunStore(join(place, "whetstone.sqlite"));
    await store.close();
    return { what: "SQLite", state: "ok", found: process.versions.sqlite ?? "there" };
  } catch (e) {
    return { what: "SQLite", state: "missing", found: messageOf(e), fix: "Install Node 22.18 or newer." };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
