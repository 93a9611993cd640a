/** Finds the devices that work on this machine. Each is tried in a separate process: missing drivers print, or abort. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Device } from "../../tensor/execute.ts";

export type { Device };

export const devices = ["cpu", "webgpu", "cuda"] as const satisfies readonly Device[];

export interface DeviceFinding {
  readonly device: Device;
  readonly works: boolean;
  /** The reason of a failure, as ONNX Runtime gives it. */
  readonly reason?: string;
}

/** Milliseconds; long enough to load a driver for the first time. */
const patience = 30_000;

/** Checks a device by multiplying two small matrices on it. */
export async function tryDevice(device: Device): Promise<DeviceFinding> {
  const file = import.meta.url.endsWith(".ts") ? "./deviceTrial.ts" : "./deviceTrial.js";
  const trial = fileURLToPath(new URL(file, import.meta.url));
  try {
    await promisify(execFile)(process.execPath, [trial, device], { timeout: patience });
    return { device, works: true };
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
    expected: "a device that ONNX Runtime can compute on",
    fix:
      device === "cuda"
        ? "Install the CUDA build: npm rebuild onnxruntime-node --onnxruntime-node-install=cuda12, with CUDA 12 and cuDNN 9; or leave --device out."
        : "Install a graphics driver with Vulkan, or leave --device out.",
  });
}
