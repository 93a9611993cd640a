/** Checks: `check.ts` in the folder of each method. */
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { isWhetstoneError, WhetstoneError } from "../core/errors.ts";
import { type PaperFolder, paperFolders } from "../methods/folders.ts";
import { type Check, defineCheck } from "../train/check.ts";
import { loadModule } from "./module.ts";

const src = join(import.meta.dirname, "..");

/** A method's folder that has a check. */
export interface CheckFile extends PaperFolder {
  readonly file: string;
}

/** Every check there is, by family and id. None in an installed package. */
export const checkFiles = (): readonly CheckFile[] =>
  paperFolders.flatMap((folder) => {
    const file = join(folder.path, "check.ts");
    return existsSync(file) ? [{ ...folder, file }] : [];
  });

/** @throws WhetstoneError `config.invalid`. */
export async function loadCheck(path: string): Promise<Check> {
  const made = await loadModule(path);
  if (typeof made === "object" && made !== null && "method" in made && "baseline" in made) {
    return defineCheck(made as Check);
  }
  throw new WhetstoneError("config.invalid", {
    where: relative(src, path),
    got: "a default export that is not a check",
    expected: "a check with a claim, a metric and two arms",
    fix: "Export it by default: export default defineCheck({ … }).",
  });
}

/** For pages that tell of every check: undefined for one whose opponent is a paper that was deleted; running it says so. */
export async function designIn(path: string): Promise<Check | undefined> {
  try {
    return await loadCheck(path);
  } catch (e) {
    if (isWhetstoneError(e) && e.code === "name.unknown") return undefined;
    throw e;
  }
}

const digest = (...texts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text);
  return hash.digest("hex").slice(0, 16);
};

/** All that a check is made of: the code in its method's folder, and the worlds that checks share. Paths under src/. */
export const sourcesOf = ({ path }: PaperFolder): readonly string[] =>
  globSync([join(relative(src, path), "**/*.ts"), "worlds/**/*.ts"], { cwd: src })
    .filter((name) => !name.endsWith(".test.ts"))
    .sort();

export const checkDigest = (folder: PaperFolder): string =>
  digest(...sourcesOf(folder).map((name) => readFileSync(join(src, name))));

/** Digests of the parts of a check: itself, the worlds, the rest of its folder, and everything else that its runs are made by. */
export function digestsOf(folder: PaperFolder): Record<"check" | "world" | "method" | "engine", string> {
  const sources = sourcesOf(folder);
  const of = (wanted: (name: string) => boolean): string =>
    digest(...sources.filter(wanted).map((name) => readFileSync(join(src, name))));
  return {
    check: of((name) => name.endsWith("/check.ts")),
    world: of((name) => name.startsWith("worlds/")),
    method: of((name) => !name.startsWith("worlds/") && !name.endsWith("/check.ts")),
    engine: codeDigest(),
  };
}

const rooms =
  "core,common,tensor,engine,env,sandbox,rollout,annotate,feedback,credit,advantage,objective,update,data,evaluator,helper,memory,method,methods/baseline,diagnose,train";

/** Git's patterns of all code that a run of any check is made by, beside its own folder and the worlds. Paths under src/. */
export const sharedCode: readonly string[] = [
  ...rooms.split(",").flatMap((room) => [`${room}/*.ts`, `${room}/*.js`]),
  ":!*.test.ts",
];

/** Of all that a run of a check is made by: what was measured with other code is measured again. */
export function codeDigest(): string {
  const files = globSync(`{${rooms}}/**/*.{ts,js}`, { cwd: src })
    .filter((name) => !name.endsWith(".test.ts"))
    .sort();
  return digest(...files.map((file) => readFileSync(join(src, file))));
}
