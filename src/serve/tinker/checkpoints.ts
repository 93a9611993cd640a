/**
 * Saved weights, by their `tinker://` paths: `tinker://<model>/weights/<name>` for training, `…/sampler_weights/…` for sampling,
 * `…/external_weights/…` for other tools.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { type Fault, fault } from "./fault.ts";

export const kinds = ["weights", "sampler_weights", "external_weights"] as const;
export type Kind = (typeof kinds)[number];

/** Metadata of a checkpoint: its base model and adapter. */
const about = z.object({
  base_model: z.string(),
  lora_rank: z.int().optional(),
  train_mlp: z.boolean(),
  train_attn: z.boolean(),
});
export type About = z.output<typeof about>;

/** Changeable properties of a checkpoint. Default: it never expires and is not public. */
const marks = z.object({ expires: z.iso.datetime().optional(), public: z.literal(true).optional() });
export type CheckpointAttributes = z.output<typeof marks>;

export interface Saved {
  readonly path: string;
  readonly kind: Kind;
  readonly name: string;
  readonly folder: string;
  readonly about: About;
  readonly marks: CheckpointAttributes;
  readonly time: Date;
}

export interface SaveOptions {
  /** Allows overwriting an existing checkpoint; without it a taken name is refused. */
  readonly overwritten?: boolean;
  readonly marks?: CheckpointAttributes;
}

export interface Checkpoints {
  /** @param write fills a folder; the checkpoint exists once the folder is complete. */
  save(
    model: string,
    kind: Kind,
    name: string,
    about: About,
    write: (folder: string) => Promise<void>,
    options?: SaveOptions,
  ): Promise<string | Fault>;
  /** Finds a checkpoint; an expired one is a fault, like a missing one. */
  find(path: string): Promise<Saved | Fault>;
  list(model: string): Promise<readonly Saved[]>;
  /** Ids of models that have checkpoints. */
  models(): Promise<readonly string[]>;
  /** @returns the path of the copy, of the same kind and name, without the original's marks. */
  copy(of: Saved, model: string, marks: CheckpointAttributes): Promise<string | Fault>;
  /** @returns a fault if the checkpoint was deleted meanwhile. */
  mark(of: Saved, marks: CheckpointAttributes): Promise<Fault | undefined>;
  remove(of: Saved): Promise<void>;
  /** Deletes expired checkpoints, and unfinished files of a server that was killed. */
  tidy(): Promise<void>;
}

export const aboutFile = "tinker.json";
const onFile = about.extend(marks.shape);
const pathForm = /^tinker:\/\/([\w:-]+)\/(weights|sampler_weights|external_weights)\/(\w[\w.-]{0,254})$/;
const nameForm = /^\w[\w.-]{0,254}$/;
const modelForm = /^[\w:-]+$/;
/** Replaces colons, which some file systems do not allow; model names contain no underscores. */
const folderName = (model: string): string => model.replaceAll(":", "_");

const isOver = ({ marks: { expires } }: Saved): boolean =>
  expires !== undefined && Date.parse(expires) <= Date.now();
const isKind = (x: unknown): x is Kind => kinds.some((kind) => kind === x);

interface CheckpointFiles {
  folderOf(model: string, kind: Kind, name: string): string;
  /** A new path for an unfinished folder, so that a checkpoint's folder is always complete. */
  aside(): string;
  /** Writes the description of a checkpoint into its folder. */
  write(folder: string, what: About & CheckpointAttributes): Promise<void>;
  /** Moves a folder aside, if it exists. @returns its new place, to be deleted. */
  moved(folder: string): Promise<string>;
  /** Finds a checkpoint, even an expired one. */
  read(model: string, kind: Kind, name: string): Promise<Saved | undefined>;
  /** All checkpoints of a model, even expired ones. */
  all(model: string): Promise<readonly Saved[]>;
  models(): Promise<readonly string[]>;
  /** Deletes unfinished files of a server that was killed. */
  tidy(): Promise<void>;
}

/** Checkpoints on disk. */
function checkpointFiles(root: string): CheckpointFiles {
  const folderOf = (model: string, kind: Kind, name: string): string =>
    join(root, "models", folderName(model), kind, name);
  const unfinished = join(root, "unfinished");
  /** Folder for writes and deletions in progress. */
  const own = join(unfinished, randomUUID());
  const aside = (): string => join(own, randomUUID());

  async function write(folder: string, what: About & CheckpointAttributes): Promise<void> {
    const half = aside();
    await mkdir(own, { recursive: true });
    await writeFile(half, `${JSON.stringify(what)}\n`);
    await rename(half, join(folder, aboutFile));
  }
  async function moved(folder: string): Promise<string> {
    const to = aside();
    await mkdir(own, { recursive: true });
    await rename(folder, to).catch((e: NodeJS.ErrnoException) => {
      if (e.code !== "ENOENT") throw e;
    });
    return to;
  }
  async function read(model: string, kind: Kind, name: string): Promise<Saved | undefined> {
    const folder = folderOf(model, kind, name);
    const file = join(folder, aboutFile);
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) return undefined;
    const { expires, public: open, ...about } = onFile.parse(JSON.parse(text));
    const there = await stat(folder).catch(() => undefined);
    if (!there) return undefined; // deleted meanwhile
    const marks: CheckpointAttributes = {
      ...(expires !== undefined && { expires }),
      ...(open && { public: open }),
    };
    return {
      path: `tinker://${model}/${kind}/${name}`,
      kind,
      name,
      folder,
      about,
      marks,
      time: there.birthtime,
    };
  }
  async function all(model: string): Promise<readonly Saved[]> {
    const found = await Promise.all(
      kinds.map(async (kind) => {
        const names = await readdir(join(root, "models", folderName(model), kind)).catch(() => []);
        return await Promise.all(names.sort().map((name) => read(model, kind, name)));
      }),
    );
    return found.flat().filter((one) => one !== undefined);
  }
  async function models(): Promise<readonly string[]> {
    const folders = await readdir(join(root, "models")).catch(() => []);
    return folders.map((name) => name.replaceAll("_", ":"));
  }

  async function tidy(): Promise<void> {
    for (const other of await readdir(unfinished).catch(() => [])) {
      if (join(unfinished, other) !== own) await gone(join(unfinished, other));
    }
  }

  return { folderOf, aside, write, moved, read, all, models, tidy };
}

const gone = (path: string): Promise<void> => rm(path, { recursive: true, force: true });
const missing = (path: string): Fault =>
  fault(`path: got ${path}, which is not among the checkpoints of this server.`);

/** Serialises changes to one folder. */
function byFolder(): <T>(folder: string, work: () => Promise<T>) => Promise<T> {
  /** The last change in progress of each folder. */
  const changing = new Map<string, Promise<unknown>>();
  return async function alone<T>(folder: string, work: () => Promise<T>): Promise<T> {
    const mine = (changing.get(folder) ?? Promise.resolve()).then(work, work);
    changing.set(folder, mine);
    try {
      return await mine;
    } finally {
      if (changing.get(folder) === mine) changing.delete(folder);
    }
  };
}

export function checkpoints(root: string): Checkpoints {
  const files = checkpointFiles(root);
  const { aside, moved, write } = files;
  const alone = byFolder();
  async function read(model: string, kind: Kind, name: string): Promise<Saved | undefined> {
    const saved = await files.read(model, kind, name);
    return saved && !isOver(saved) ? saved : undefined;
  }

  const save: Checkpoints["save"] = async (model, kind, name, what, fill, options = {}) => {
    const { overwritten = false, marks = {} } = options;
    if (!nameForm.test(name)) {
      return fault(
        `path: got ${JSON.stringify(name)}, expected letters, digits, dots, dashes and underscores.`,
      );
    }
    const folder = files.folderOf(model, kind, name);
    const path = `tinker://${model}/${kind}/${name}`;
    const taken = async (): Promise<Fault | undefined> =>
      !overwritten && (await read(model, kind, name))
        ? fault(`path: got ${path}, which exists already. Choose another name, or ask for overwrite.`)
        : undefined;
    const before = await taken();
    if (before) return before;
    const half = aside();
    try {
      await mkdir(half, { recursive: true });
      await fill(half);
      await write(half, { ...what, ...marks });
      return await alone(folder, async () => {
        const meanwhile = await taken();
        if (meanwhile) {
          await gone(half);
          return meanwhile;
        }
        await mkdir(dirname(folder), { recursive: true });
        const old = await moved(folder);
        await rename(half, folder);
        await gone(old);
        return path;
      });
    } catch (e) {
      await gone(half); // frees the space, since the disk may be full
      throw e;
    }
  };

  return {
    save,
    async find(path) {
      const [, model = "", kind, name = ""] = pathForm.exec(path) ?? [];
      if (!isKind(kind)) {
        return fault(
          `path: got ${JSON.stringify(path.slice(0, 300))}, expected tinker://<model>/weights/<name>.`,
        );
      }
      return (await read(model, kind, name)) ?? missing(path);
    },
    async list(model) {
      if (!modelForm.test(model)) return [];
      return (await files.all(model)).filter((saved) => !isOver(saved));
    },
    models: files.models,
    async copy({ path, folder, kind, name, about }, model, marks) {
      try {
        return await save(model, kind, name, about, (to) => cp(folder, to, { recursive: true }), { marks });
      } catch (e) {
        if (existsSync(join(folder, aboutFile))) throw e;
        return missing(path); // deleted while it was copied
      }
    },
    mark: ({ path, folder, about }, marks) =>
      alone(folder, async () => {
        if (!existsSync(join(folder, aboutFile))) return missing(path);
        await write(folder, { ...about, ...marks });
        return undefined;
      }),
    remove: ({ folder }) => alone(folder, async () => gone(await moved(folder))),
    async tidy() {
      await files.tidy();
      for (const model of await files.models()) {
        for (const { folder } of (await files.all(model)).filter(isOver)) {
          await alone(folder, async () => gone(await moved(folder)));
        }
      }
    },
  };
}
