/** Writes the pages that the generator reads: docs/, every file that they link, a page for each method and subpath. */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { catalogue } from "../../src/methods/catalogue.ts";
import { publicApi } from "../publicApi.ts";
import { apiPages } from "./api.ts";
import { cataloguePage, head, methodPage } from "./method.ts";
import { placeOf } from "./place.ts";
import { staged, themed } from "./staged.ts";

const root = join(import.meta.dirname, "../..");

/** @returns the pages written, each with the file that it comes from, if it is one. */
export async function writePages(into: string): Promise<ReadonlyMap<string, string | undefined>> {
  rmSync(into, { recursive: true, force: true });
  const written = new Map<string, string | undefined>();
  const page = (path: string, text: string, from?: string): void => {
    if (written.has(path))
      throw new Error(`two files would be the page ${path}: ${from}, ${written.get(path)}`);
    written.set(path, from);
    write(join(into, path), text);
  };
  page("index.md", readFileSync(join(root, "site/index.md"), "utf8"), "site/index.md");
  page("catalogue.md", cataloguePage());
  // what the search of the catalogue reads: entries without their compositions, which are functions
  write(join(into, "public/catalogue.json"), JSON.stringify(catalogue));
  for (const m of catalogue) page(`methods/${m.id}.md`, await methodPage(m));
  for (const [path, text] of apiPages(publicApi())) page(path, text);

  // docs/ first, then what it links, what that links, and so on
  const named = new Set(["README.md", ...globSync("docs/**/*.{md,svg}", { cwd: root })].map(slashes));
  for (const file of named) {
    const place = placeOf(file);
    const name = (other: string): void => {
      if (isFolder(other)) throw new Error(`${file} links the folder ${other}: link a file`);
      named.add(other);
    };
    if (place.kind === "file") copy(file, join(into, "public", place.path));
    else if (place.kind === "code") page(place.page, codePage(file), file);
    else if (!written.has(place.page)) page(place.page, staged(read(file), file, name, twoThemes), file);
  }
  return written;
}

const slashes = (path: string): string => path.replaceAll("\\", "/");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const isFolder = (file: string): boolean =>
  statSync(join(root, file), { throwIfNoEntry: false })?.isDirectory() === true;

function write(to: string, text: string): void {
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, text);
}

const dark = /@media \(prefers-color-scheme: dark\)/;
const twoThemes = (file: string): boolean => file.endsWith(".svg") && dark.test(read(file));

/** Copies a file; a picture that follows the system's theme becomes one file for each, since the site has a switch. */
function copy(file: string, to: string): void {
  if (twoThemes(file)) {
    write(themed(to, "light"), read(file).replace(dark, "@media not all"));
    write(themed(to, "dark"), read(file).replace(dark, "@media all"));
  } else cpSync(join(root, file), to);
}

const codePage = (file: string): string =>
  `${head(file, `Source of ${file}`)}\n# ${file}\n\n\`\`\`\`${extname(file).slice(1)}\n${read(file)}\`\`\`\`\n`;
