/** Where a file of the repository stands on the site. */
import { posix } from "node:path";

export type Place =
  /** A page, by its path from the root of the site, with the extension of its source. */
  | { readonly kind: "page" | "code"; readonly page: string }
  /** A picture or table of data that is copied. */
  | { readonly kind: "file"; readonly path: string };

const method = /^src\/methods\/[^/]+\/([^/]+)\/method\.ts$/;

export function placeOf(file: string): Place {
  const [, id] = method.exec(file) ?? [];
  if (id !== undefined) return { kind: "page", page: `methods/${id}.md` };
  if (file === "README.md") return { kind: "page", page: "overview.md" };
  if (file.endsWith(".md")) return { kind: "page", page: file.replace(/^docs\//, "") };
  if (/\.(ts|tsx|js|py)$/.test(file)) return { kind: "code", page: `source/${file}.md` };
  return { kind: "file", path: `files/${file}` };
}

/** A link's target as a file of the repository: relative to the page it stands on. */
export const linked = (from: string, target: string): string =>
  posix.normalize(posix.join(posix.dirname(from), target));
