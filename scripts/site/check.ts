/** Checks the built site: every link and anchor leads somewhere, and every page's first load is small. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { extname, join, posix } from "node:path";
import { gzipSync } from "node:zlib";

export interface FirstLoad {
  readonly page: string;
  /** Compressed bytes of the page and of all that the browser fetches with it. */
  readonly bytes: number;
}

/** Everything a page refers to within the site, from the site's root: links with their anchors. */
interface Refers {
  readonly links: readonly string[];
  readonly ids: ReadonlySet<string>;
}

const attribute = (name: string): RegExp => new RegExp(`\\s${name}="([^"]*)"`, "g");
const plain = (text: string): string => text.replaceAll("&amp;", "&").replaceAll("&#39;", "'");

/** @returns a line for each link that leads nowhere. */
export function deadLinks(folder: string, base: string): readonly string[] {
  const pages = new Map<string, Refers>();
  for (const page of globSync("**/*.html", { cwd: folder })) {
    const html = readFileSync(join(folder, page), "utf8");
    const found = [...html.matchAll(attribute("href")), ...html.matchAll(attribute("src"))];
    const ids = new Set([...html.matchAll(attribute("id"))].map(([, id]) => plain(id!)));
    pages.set(page, { links: found.map(([, link]) => plain(link!)), ids });
  }
  const dead = new Set<string>();
  for (const [page, { links }] of pages)
    for (const link of links) {
      if (/^(https?:|mailto:|data:)/.test(link)) continue;
      const [path = "", anchor = ""] = link.split("#", 2);
      const file = path === "" ? page : inSite(path, page, base);
      const known = file === undefined || existsSync(join(folder, file));
      if (file === undefined || !known) dead.add(`${page}: ${link} is not on the site`);
      else if (anchor !== "" && pages.get(file)?.ids.has(decodeURIComponent(anchor)) === false)
        dead.add(`${page}: ${link}: the page has no such heading`);
    }
  return [...dead];
}

/** The file that a path leads to; undefined outside the site. */
function inSite(path: string, page: string, base: string): string | undefined {
  const full = path.startsWith("/")
    ? path.startsWith(base)
      ? path.slice(base.length)
      : undefined
    : posix.join(posix.dirname(page), path);
  if (full === undefined) return undefined;
  const file = decodeURIComponent(full);
  return file === "" || file.endsWith("/") ? `${file}index.html` : file;
}

/** What each page fetches before it is read and used: itself, styles, scripts and fonts, and pictures that are not deferred. */
export function firstLoads(folder: string, base: string): readonly FirstLoad[] {
  const sizes = new Map<string, number>();
  const size = (file: string): number => {
    const known = sizes.get(file) ?? compressed(join(folder, file));
    sizes.set(file, known);
    return known;
  };
  return globSync("**/*.html", { cwd: folder })
    .map((page) => {
      const html = readFileSync(join(folder, page), "utf8");
      const tags = [...html.matchAll(/<(?:link|script|img)\b[^>]*>/g)].map(([tag]) => tag);
      const files = tags
        .filter(
          (tag) => !tag.startsWith("<link") || /rel="(?:\w+ )?(stylesheet|modulepreload|preload)"/.test(tag),
        )
        .filter((tag) => !/loading="lazy"/.test(tag))
        .flatMap((tag) => /\s(?:href|src)="([^"]+)"/.exec(tag)?.[1] ?? [])
        .filter((link) => !/^(https?:|data:)/.test(link))
        .flatMap((link) => inSite(link, page, base) ?? []);
      return { page, bytes: [...new Set([page, ...files])].reduce((sum, file) => sum + size(file), 0) };
    })
    .sort((a, b) => b.bytes - a.bytes);
}

/** Bytes as a server sends them: fonts and pictures are compressed already. */
function compressed(file: string): number {
  const bytes = readFileSync(file);
  return [".html", ".css", ".js", ".svg", ".json"].includes(extname(file))
    ? gzipSync(bytes).length
    : bytes.length;
}
