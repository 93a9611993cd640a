/** Finds the devices that work on this machine. Each is tried in a separate process: missing drivers print, or abort. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { messageOf, WhetstoneError } from "../../core/errors.ts";

/** "gpu": any graphics adapter, by WebGPU. "cuda": NVIDIA's libraries, by ONNX Runtime. */
export const devices = ["cpu", "gpu", "cuda"] as const;

/** What computes a model's passes. */
export type Device = (typeof devices)[number];

/** The device that `WHETSTONE_DEVICE` names, if it does. @throws WhetstoneError `option.range` for another name. */
export function deviceByDefault(named = process.env.WHETSTONE_DEVICE): Device | undefined {
  if (named === undefined || named === "") return undefined;
  const known = devices.find((device) => device === named);
  if (known) return known;
  throw new WhetstoneError("option.range", {
    where: "WHETSTONE_DEVICE",
    got: named,
    expected: devices.join(", "),
    fix: "Name one of them, or unset the variable.",
  });
}

export interface DeviceFinding {
  readonly device: Device;
  readonly works: boolean;
  /** The reason of a failure. */
  readonly reason?: string;
  /** What it is and how fast, if it says so. */
  readonly about?: string;
}

/** Milliseconds; long enough to load a driver for the first time. */
const patience = 30_000;

/** Checks a device by multiplying two small matrices on it. */
export async function tryDevice(device: Device): Promise<DeviceFinding> {
  const file = import.meta.url.endsWith(".ts") ? "./deviceTrial.ts" : "./deviceTrial.js";
  const trial = fileURLToPath(new URL(file, import.meta.url));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [trial, device], { timeout: patience });
    const about = stdout.trim();
    return { device, works: true, ...(about !== "" && { about }) };
  } catch (e) {
    const said = typeof e === "object" && e !== null && "stdout" in e ? String(e.stdout) : "";
    const reason = said.trim().split("\n").at(-1) || messageOf(e).split("\n")[0]!;
    return { device, works: false, reason };
  }
}

/** @throws WhetstoneError `device.missing`. */
export async function requireDevice(device: Device): Promise<void> {
  if (device === "cpu") return;
  const { works, reason } = await tryDevice(device);
  if (works) return;
  throw new WhetstoneError("device.missing", {
    where: "localEngine device",
    got: `${device}: ${reason}`,
    expected: "a device that this machine can compute on",
    fix:
      device === "cuda"
        ? "Install the CUDA build: npm rebuild onnxruntime-node --onnxruntime-node-install=cuda12, with CUDA 12 and cuDNN 9; or leave --device out."
        : "Run whetstone doctor, which says what is missing; or leave --device out.",
  });
}
