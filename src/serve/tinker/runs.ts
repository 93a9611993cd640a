/** Training runs and checkpoints as JSON of the API. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type About, aboutFile, type Checkpoints, type Kind, type Saved } from "./checkpoints.ts";

const types: Readonly<Record<Kind, string>> = {
  weights: "training",
  sampler_weights: "sampler",
  external_weights: "external",
};

/** Files of a checkpoint; empty if it was deleted meanwhile. */
export async function filesOf(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return found
    .filter((one) => one.isFile() && one.name !== aboutFile)
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();
}

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

export async function checkpointJson({ path, kind, name, folder, marks, time }: Saved) {
  const files = await filesOf(folder);
  const sizes = await Promise.all(files.map((file) => sizeOf(join(folder, file))));
  return {
    checkpoint_id: `${kind}/${name}`,
    checkpoint_type: types[kind],
    time: time.toISOString(),
    tinker_path: path,
    size_bytes: sizes.reduce((a, b) => a + b, 0),
    public: marks.public ?? false,
    expires_at: marks.expires ?? null,
  };
}

/** A model that is being trained. */
export interface Live {
  readonly about: About;
  /** Time of the session's last request. */
  readonly lastSeenAt: Date;
}

/** A run, from its live model and its checkpoints; undefined if it has neither. */
export async function runJson(store: Checkpoints, id: string, live: Live | undefined) {
  const saved = (await store.list(id)).toSorted((a, b) => a.time.getTime() - b.time.getTime());
  const about = live?.about ?? saved.at(-1)?.about;
  if (!about) return undefined;
  const last = async (kind: Kind) => {
    const one = saved.findLast((s) => s.kind === kind);
    return one ? await checkpointJson(one) : null;
  };
  return {
    training_run_id: id,
    base_model: about.base_model,
    model_owner: "local",
    is_lora: about.lora_rank !== undefined,
    ...(about.lora_rank !== undefined && { lora_rank: about.lora_rank }),
    corrupted: false,
    last_request_time: (live?.lastSeenAt ?? saved.at(-1)?.time ?? new Date(0)).toISOString(),
    last_checkpoint: await last("weights"),
    last_sampler_checkpoint: await last("sampler_weights"),
  };
}
