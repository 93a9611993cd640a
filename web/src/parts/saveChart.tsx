/** A chart as a file: its drawing as SVG or PNG, its numbers as CSV. */
import type { Line } from "./chart.tsx";
import { chartDrawing, chartRows } from "./chartDrawing.ts";
import { inks, lineInks } from "./ink.ts";
import { csv, save, saveUrl } from "./save.ts";
import { smoothed } from "./smoothed.ts";

interface SaveProps {
  readonly title: string;
  readonly x: readonly number[];
  readonly lines: readonly Line[];
  readonly smoothing: number;
  readonly words: (value: number) => string;
}

export function SaveChart({ title, x, lines, smoothing, words }: SaveProps) {
  const drawing = (): string => {
    const ink = inks();
    return chartDrawing({
      title,
      x,
      lines: lines.map(({ name, values, range, marked }, i) => ({
        name,
        values: smoothed(values, smoothing),
        measured: smoothing > 0 ? values : undefined,
        range,
        marked,
        ink: ink(lineInks[i % lineInks.length]!),
      })),
      ink: { text: ink("--ink"), line: ink("--line"), ground: ink("--raised") },
      words,
    });
  };
  return <SaveDrawing title={title} drawing={drawing} numbers={() => chartRows(x, lines)} />;
}

interface DrawingProps {
  readonly title: string;
  /** An SVG document that states its width and height. */
  readonly drawing: () => string;
  readonly numbers: () => readonly (readonly (string | number | null)[])[];
}

export function SaveDrawing({ title, drawing, numbers }: DrawingProps) {
  const formats: readonly (readonly [name: string, save: () => void])[] = [
    ["SVG", () => save(`${title}.svg`, "image/svg+xml", drawing())],
    ["PNG", () => void savePng(`${title}.png`, drawing())],
    ["CSV", () => save(`${title}.csv`, "text/csv", csv(numbers()))],
  ];
  return (
    <details class="save-chart">
      <summary aria-label={`Save: ${title}`}>Save</summary>
      {formats.map(([name, act]) => (
        <button key={name} type="button" class="quiet" aria-label={`${name} of ${title}`} onClick={act}>
          {name}
        </button>
      ))}
    </details>
  );
}

/** Twice as fine as on the page, for screens and print that show it. */
async function savePng(name: string, svg: string): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (blob) saveUrl(name, URL.createObjectURL(blob));
}
