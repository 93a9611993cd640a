/** Compares what a page says is printed with what came. */

/** Figures, ids and times differ from run to run: a word with a digit in it stands for any such word. Blanks and quotes do not count. */
const masked = (line: string): string =>
  line
    .split(/[\s"'{}[\](),:]+/)
    .filter((word) => word !== "")
    .map((word) => (/\d/.test(word) ? "0" : word))
    .join(" ");

/** @returns the page's lines that did not come in this order; other lines may stand between them, and `…` says that they do. */
export function missing(page: string, came: string): readonly string[] {
  const lines = came.split("\n").map(masked);
  let from = 0;
  return page.split("\n").filter((line) => {
    const wanted = masked(line);
    if (wanted === "" || wanted === "…") return false;
    const at = lines.indexOf(wanted, from);
    if (at >= 0) from = at + 1;
    return at < 0;
  });
}
