/** Where checks lie: beside src/ in the repository. */
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { WhetstoneError } from "../core/errors.ts";
import { type Check, defineCheck } from "../train/check.ts";
import { loadModule } from "./module.ts";

const root = resolve(import.meta.dirname, "..", "..");
export interface CheckFile {
  readonly id: string;
  readonly family: string;
  readonly path: string;
}

/** Every check there is, by id: `checks/<family>/<id>.ts`. None in an installed package. */
export function checkFiles(): readonly CheckFile[] {
  return globSync("checks/*/*.ts", { cwd: root })
    .filter((path) => !basename(path).startsWith("_"))
    .map((path) => ({
      id: basename(path, ".ts"),
      family: basename(join(path, "..")),
      path: join(root, path),
    }))
    .sort((a, b) => a.family.localeCompare(b.family) || a.id.localeCompare(b.id));
}

/** @throws WhetstoneError `config.invalid`. */
export async function loadCheck(path: string): Promise<Check> {
  const made = await loadModule(path);
  if (typeof made === "object" && made !== null && "method" in made && "baseline" in made) {
    return defineCheck(made as Check);
  }
  throw new WhetstoneError("config.invalid", {
    where: relative(root, path),
    got: "a default export that is no check",
    expected: "one with a claim, a metric and two arms",
    mend: "Export it by default: export default defineCheck({ … }).",
  });
}

const digest = (...texts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text);
  return hash.digest("hex").slice(0, 16);
};

/** Of a check's file and what it shares with its neighbours (`_*.ts` beside it). */
export function checkDigest(path: string): string {
  const shared = globSync("_*.ts", { cwd: join(path, "..") }).sort();
  return digest(readFileSync(path), ...shared.map((name) => readFileSync(join(path, "..", name))));
}

/** Of all that a run of a check is made by: what was measured with other code is measured again. */
export function codeDigest(): string {
  const files = globSync(
    "{core,tensor,engine,env,rollout,annotate,feedback,credit,advantage,objective,update,data,helper,memory,method,train}/**/*.{ts,js}",
    {
      cwd: join(import.meta.dirname, ".."),
    },
  ).sort();
  return digest(...files.map((file) => readFileSync(join(import.meta.dirname, "..", file))));
}
