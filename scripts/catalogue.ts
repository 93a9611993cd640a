/**
 * Writes src/method/catalogue.ts from the folders under src/method: one file per method, each exporting one recipe.
 * `--check` writes nothing and fails where the file is not what the folders say.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "src", "method");
const target = join(folder, "catalogue.ts");

/** The name that a method's file exports: made by `method`, `diagnostic`, or a `…With` of its own for variants. */
function exported(file: string): string | undefined {
  return /^export const (\w+)(?:: Recipe)? = (?:method|diagnostic|\w+With)\(/m.exec(
    readFileSync(join(folder, file), "utf8"),
  )?.[1];
}

const entries = globSync("*/*.ts", { cwd: folder })
  .map((file) => file.replaceAll("\\", "/"))
  .sort()
  .flatMap((file) => {
    const name = exported(file);
    return name === undefined ? [] : [{ file, name }];
  });

const text = [
  "/** Every method there is. Written by scripts/catalogue.ts from the folders beside it. */",
  ...entries.map(({ file, name }) => `import { ${name} } from "./${file}";`),
  'import type { Recipe } from "./method.ts";',
  "",
  `export { ${entries.map((e) => e.name).join(", ")} };`,
  "",
  `export const methods: readonly Recipe[] = [${entries.map((e) => e.name).join(", ")}];`,
  "",
].join("\n");

/** Layout and the order of imports are the formatter's affair. */
const plain = (source: string): string =>
  source
    .split(/[\s,;{}[\]]+/)
    .sort()
    .join(" ");

if (process.argv.includes("--check")) {
  if (plain(readFileSync(target, "utf8")) !== plain(text)) {
    console.error("src/method/catalogue.ts is not what the folders say: node scripts/catalogue.ts");
    process.exitCode = 1;
  }
} else writeFileSync(target, text);
