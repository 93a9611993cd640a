/** Turns a page of the repository, as it reads on GitHub, into a page of the site. */
import { linked, placeOf } from "./place.ts";

/** Fenced blocks, then code within a line: what stands in them is not touched. */
const code = /(^[ \t]*(`{3,}|~{3,})[^\n]*\n[\s\S]*?^[ \t]*\2[ \t]*$|(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\3(?!`))/m;

/**
 * @param file the page, from the root of the repository.
 * @param names called with each file of the repository that the page names.
 * @param twoThemes whether a picture has colours for a dark theme of its own.
 */
export function staged(
  text: string,
  file: string,
  names: (file: string) => void,
  twoThemes: (picture: string) => boolean,
): string {
  const picture = (alt: string, target: string): string => {
    const source = linked(file, target);
    names(source);
    if (!twoThemes(source)) return image(alt, source);
    return (
      image(alt, themed(source, "light"), "light-only") + image(alt, themed(source, "dark"), "dark-only")
    );
  };
  // a page of the site begins with its title
  const titled = text.replace(/^([^#]+?)\n+(# .*\n)/, "$2\n$1\n");
  return outsideCode(titled, (part) =>
    part
      .replaceAll(
        /<picture><source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)"><img alt="([^"]*)" src="([^"]+)"><\/picture>/g,
        (_, dark: string, alt: string, light: string) => {
          for (const target of [dark, light]) names(linked(file, target));
          return image(alt, linked(file, light), "light-only") + image(alt, linked(file, dark), "dark-only");
        },
      )
      .replaceAll(/!\[([^\]]*)\]\((?!https?:)([^)\s]+)\)/g, (_, alt: string, target: string) =>
        picture(alt, target),
      )
      .replaceAll(
        /\]\((?!https?:|\/|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)/g,
        (_, target: string, anchor = "") => {
          const source = linked(file, target);
          names(source);
          return `](${address(source)}${anchor})`;
        },
      ),
  );
}

const image = (alt: string, file: string, theme?: string): string =>
  `<img${theme ? ` class="${theme}"` : ""} loading="lazy" alt="${alt}" src="${address(file)}">`;

/** A picture's own file for each theme, where one file holds both. */
export const themed = (file: string, theme: "light" | "dark"): string =>
  file.replace(/(\.\w+)$/, `.${theme}$1`);

/** The address of a file of the repository, as a page of the site writes it. */
export function address(file: string): string {
  const place = placeOf(file);
  return place.kind === "file" ? `/${place.path}` : `/${place.page}`;
}

/** Changes what is no code, and keeps text that would read as a tag or a template from being one. */
export const outsideCode = (text: string, change: (part: string) => string = (part) => part): string => {
  let rest = text;
  let out = "";
  for (let found = code.exec(rest); found; found = code.exec(rest)) {
    out += change(literal(rest.slice(0, found.index))) + found[0];
    rest = rest.slice(found.index + found[0].length);
  }
  return out + change(literal(rest));
};

const literal = (text: string): string =>
  text
    .replaceAll(/<(?!\/?(picture|source|img)\b|https?:)(?=[\w/])/g, "&lt;")
    .replaceAll("{{", "&#123;&#123;");
