/** The API reference: a page for each subpath of the package, from its docstrings. */
import type { PublicName, Subpath } from "../publicApi.ts";
import { head } from "./method.ts";
import { outsideCode } from "./staged.ts";

/** The pages by their paths, the list of subpaths first. */
export function apiPages(api: readonly Subpath[]): ReadonlyMap<string, string> {
  const pages = api.map(({ subpath, names = [] }) => {
    const from = `whetstone${subpath.slice(1)}`;
    return { from, page: `api/${subpath === "." ? "whetstone" : subpath.slice(2)}.md`, names };
  });
  const list = pages.map(({ from, page, names }) => {
    const some = names
      .slice(0, 6)
      .map(({ name }) => `\`${name}\``)
      .join(", ");
    return `| [\`${from}\`](/${page}) | ${names.length} | ${some}${names.length > 6 ? ", …" : ""} |`;
  });
  return new Map([
    [
      "api/index.md",
      [
        head("API reference", "What the package exports, by subpath"),
        "# API reference",
        "",
        "What the package exports, by subpath: signatures and docstrings as they stand in the sources. Methods are exported one by",
        'one too: `import { igpo } from "whetstone/methods/credit/igpo"`.',
        "",
        "| import from | names | |",
        "| --- | --- | --- |",
        ...list,
        "",
      ].join("\n"),
    ],
    ...pages.map(
      ({ from, page, names }) =>
        [
          page,
          [
            head(from, `What ${from} exports`),
            `# ${from}`,
            "",
            `\`import { … } from "${from}"\``,
            ...names.map(entry),
            "",
          ].join("\n"),
        ] as const,
    ),
  ]);
}

const entry = ({ name, file, doc = "", declarations }: PublicName): string =>
  [
    "",
    `## ${name}`,
    "",
    outsideCode(docText(doc)),
    "",
    "```ts",
    ...declarations.map(readable),
    "```",
    "",
    `<p class="facts">src/${file}</p>`,
  ].join("\n");

/** Tags of a docstring as a list below its sentences. */
function docText(doc: string): string {
  const [sentences = "", ...tags] = doc.split(/^@/m);
  const listed = tags.map((tag) => {
    const [, kind = "", rest = ""] = /^(\w+)\s*([\s\S]*)$/.exec(tag.trim()) ?? [];
    const [, what = "", said = ""] = /^(\S+)\s*-?\s*([\s\S]*)$/.exec(rest) ?? [];
    if (kind === "param") return `- \`${what}\`: ${said}`;
    if (kind === "example") return `\n${rest.includes("```") ? rest : `\`\`\`ts\n${rest}\n\`\`\``}\n`;
    return `- ${kind}: ${rest}`;
  });
  return `${sentences.trim()}\n\n${listed.join("\n")}`.replaceAll(/\{@link (\w+)[^}]*\}/g, "`$1`");
}

/** A declaration without what a reader of the package does not write. */
const readable = (declaration: string): string =>
  declaration.replace(/^(?:export )?(?:declare )?/, "").replaceAll(/import\("[^"]*"\)\./g, "");
