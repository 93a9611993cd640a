/** The two ways in which an example imports Whetstone: from the sources of this repository, and from the package. */

/** @param file the example, from the root of the repository. */
export function asInPackage(text: string, file: string): string {
  const up = upFrom(file);
  return text.replaceAll(
    new RegExp(`(from |import\\()"${up.replaceAll(".", "\\.")}src/([\\w-]+/)?index\\.ts"`, "g"),
    (_, before: string, room = "") => `${before}"whetstone${room === "" ? "" : `/${room.slice(0, -1)}`}"`,
  );
}

/** The inverse of {@link asInPackage}. */
export const asInRepository = (text: string, file: string): string =>
  text.replaceAll(
    /(from |import\()"whetstone(\/[\w-]+)?"/g,
    (_, before: string, room = "") => `${before}"${upFrom(file)}src${room}/index.ts"`,
  );

const upFrom = (file: string): string => "../".repeat(file.split(/[\\/]/).length - 1);
