/** What the device needs to draw tokens, and the tokens as they come back. */
import type { Gpu, GpuArray } from "../../../tensor/wgsl/device.ts";
import type { Drawn } from "../draw.ts";
import type { Row } from "../samplingRow.ts";

/** How each of R rows draws its next token. */
export function drawing(rows: readonly (Row | undefined)[]) {
  return {
    u: Float32Array.from(rows, (row) => row?.random.next() ?? 0),
    sharpness: Float32Array.from(rows, (row) => 1 / (row?.request.temperature || 1)),
    greedy: Int32Array.from(rows, (row) => Number(row?.request.temperature === 0)),
  };
}

/** The same for scores that come back, of which the host draws. */
export const noDrawing = (R: number) => drawing(new Array<undefined>(R).fill(undefined));

/** The tokens of R rows as they came back. */
function drawnFrom(bytes: ArrayBuffer, offset: number, rows: readonly (Row | undefined)[]): Drawn[] {
  const R = rows.length;
  const ids = new Int32Array(bytes, offset, R);
  const [logp, behaviour, entropy] = [1, 2, 3].map((k) => new Float32Array(bytes, offset + 4 * R * k, R));
  return rows.map((row, r) => {
    const { temperature = 1 } = row?.request ?? {};
    return {
      id: ids[r]!,
      logp: logp![r]!,
      behaviour: temperature === 0 ? 0 : temperature === 1 ? logp![r]! : behaviour![r]!,
      entropy: entropy![r]!,
    };
  });
}

/** Outputs of a pass, one number for each row. */
const fields = ["ids", "logp", "behaviour", "entropy"] as const;

export interface DrawnResults {
  /** Copies the tokens of a pass over R rows to the memory that comes back. */
  collect(out: Readonly<Record<string, GpuArray>>, R: number, pass: number, ofPasses: number): void;
  /** The tokens of each pass by row. */
  read(rows: readonly (Row | undefined)[], passes: number): Promise<Drawn[][]>;
  release(): void;
}

export function drawnResults(gpu: Gpu): DrawnResults {
  let memory: GPUBuffer | undefined;
  return {
    collect(out, R, pass, ofPasses) {
      const bytes = 4 * R * fields.length * ofPasses;
      if (!memory || memory.size < bytes) {
        if (memory) gpu.free(memory);
        memory = gpu.make(bytes);
      }
      const encoder = gpu.device.createCommandEncoder();
      for (const [k, name] of fields.entries()) {
        const at = 4 * R * (pass * fields.length + k);
        encoder.copyBufferToBuffer(out[name]!.buffer, 0, memory, at, 4 * R);
      }
      gpu.device.queue.submit([encoder.finish()]);
    },
    async read(rows, passes) {
      const each = 4 * rows.length * fields.length;
      const back = await gpu.read(memory!, each * passes);
      return Array.from({ length: passes }, (_, pass) => drawnFrom(back, each * pass, rows));
    },
    release() {
      if (memory) gpu.free(memory);
      memory = undefined;
    },
  };
}
