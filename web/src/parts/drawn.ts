/** A drawing of the page as a document of its own: the sheet's colours, and the names that stand beside it, are written into it. */
import { escaped } from "./chartDrawing.ts";
import { inks } from "./ink.ts";

/** What the sheet may say of a part of a drawing. */
const told = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "font-size",
  "font-family",
] as const;
/** Room around it, of its title, and of each name. */
const [around, above, each] = [16, 40, 20];

/**
 * @param drawing with a viewBox.
 * @param names of its colours, where the drawing does not have them itself.
 * @returns an SVG document.
 */
export function drawnAlone(
  drawing: SVGSVGElement,
  title: string,
  names: readonly { readonly name: string; readonly ink: string }[] = [],
): string {
  const ink = inks();
  const { width, height } = drawing.viewBox.baseVal;
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const parts = [...drawing.querySelectorAll("*")];
  for (const [i, part] of [...copy.querySelectorAll("*")].entries()) {
    const style = getComputedStyle(parts[i]!);
    for (const name of told) part.setAttribute(name, style.getPropertyValue(name));
  }
  copy.setAttribute("x", String(around));
  copy.setAttribute("y", String(above));
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const [wide, high] = [width + 2 * around, above + height + each * names.length + around];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="100%" height="100%" fill="${ink("--raised")}"/>`,
    `<text x="${around}" y="24" fill="${ink("--ink")}" font-size="15" font-weight="600">${escaped(title)}</text>`,
    new XMLSerializer().serializeToString(copy),
    ...names.map(({ name, ink: of }, i) => {
      const y = above + height + each * (i + 1);
      return `<rect x="${around}" y="${y - 10}" width="10" height="10" rx="2" fill="${ink(of)}"/><text x="${around + 16}" y="${y}" fill="${ink("--ink")}">${escaped(name)}</text>`;
    }),
    "</svg>",
  ].join("\n");
}
