/** Saved weights, by their `tinker://` paths: `tinker://<model>/weights/<name>` to train on, `…/sampler_weights/…` to sample. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Fault, fault, isFault } from "./fault.ts";

export const kinds = ["weights", "sampler_weights"] as const;
export type Kind = (typeof kinds)[number];

/** What a checkpoint is of. */
const about = z.object({
  base_model: z.string(),
  lora_rank: z.int().optional(),
  train_mlp: z.boolean(),
  train_attn: z.boolean(),
});
export type About = z.output<typeof about>;

export interface Saved {
  readonly path: string;
  readonly folder: string;
  readonly about: About;
}

export interface Listed {
  readonly path: string;
  readonly kind: Kind;
  readonly name: string;
  readonly time: Date;
}

export interface Checkpoints {
  /** @param write fills a folder; it counts once it is whole. A name that is taken is refused, unless it may be `overwritten`. */
  save(
    model: string,
    kind: Kind,
    name: string,
    about: About,
    write: (folder: string) => Promise<void>,
    overwritten?: boolean,
  ): Promise<string | Fault>;
  find(path: string): Promise<Saved | Fault>;
  list(model: string): Promise<readonly Listed[]>;
  remove(model: string, kind: Kind, name: string): Promise<boolean>;
}

const aboutFile = "tinker.json";
const pathForm = /^tinker:\/\/([\w:-]+)\/(weights|sampler_weights)\/(\w[\w.-]{0,254})$/;
const nameForm = /^\w[\w.-]{0,254}$/;
/** Not every file system has colons. */
const folderName = (model: string): string => model.replaceAll(":", "_");

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

export function checkpoints(root: string): Checkpoints {
  const folderOf = (model: string, kind: Kind, name: string): string =>
    join(root, "models", folderName(model), kind, name);
  return {
    async save(model, kind, name, what, write, overwritten = false) {
      if (!nameForm.test(name)) {
        return fault(
          `path: got ${JSON.stringify(name)}, expected letters, digits, dots, dashes and underscores.`,
        );
      }
      const folder = folderOf(model, kind, name);
      const path = `tinker://${model}/${kind}/${name}`;
      const taken = await isThere(folder);
      if (taken && !overwritten) {
        return fault(`path: got ${path}, which exists already. Choose another name, or ask for overwrite.`);
      }
      const half = join(root, "models", folderName(model), `.${kind}-${name}`);
      await rm(half, { recursive: true, force: true });
      await mkdir(half, { recursive: true });
      await write(half);
      await writeFile(join(half, aboutFile), `${JSON.stringify(what)}\n`);
      if (taken) await rm(folder, { recursive: true, force: true });
      await mkdir(join(folder, ".."), { recursive: true });
      await rename(half, folder);
      return path;
    },
    async find(path) {
      const parts = pathForm.exec(path);
      const [, model = "", kind, name = ""] = parts ?? [];
      if (kind !== "weights" && kind !== "sampler_weights") {
        return fault(`path: got ${JSON.stringify(path)}, expected tinker://<model>/weights/<name>.`);
      }
      const folder = folderOf(model, kind, name);
      const text = await readFile(join(folder, aboutFile), "utf8").catch(() => undefined);
      if (text === undefined)
        return fault(`path: got ${path}, which is not among the checkpoints of this server.`);
      return { path, folder, about: about.parse(JSON.parse(text)) };
    },
    async list(model) {
      if (!/^[\w:-]+$/.test(model)) return [];
      const found = await Promise.all(
        kinds.map(async (kind) => {
          const names = await readdir(join(root, "models", folderName(model), kind)).catch(() => []);
          return Promise.all(
            names.sort().map(async (name): Promise<Listed> => {
              const { mtime } = await stat(join(folderOf(model, kind, name), aboutFile));
              return { path: `tinker://${model}/${kind}/${name}`, kind, name, time: mtime };
            }),
          );
        }),
      );
      return found.flat();
    },
    async remove(model, kind, name) {
      const saved = await this.find(`tinker://${model}/${kind}/${name}`);
      if (isFault(saved)) return false;
      await rm(saved.folder, { recursive: true, force: true });
      return true;
    },
  };
}
