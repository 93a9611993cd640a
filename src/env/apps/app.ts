/** Apps as graphs: screens, and icons that lead from one to another. */
import { type Random, shuffled } from "../../core/random.ts";

/** Cells along each side of a screen; an icon has a ninth of it to itself. */
export const width = 12;

export interface Icon {
  readonly name: string;
  /** Screen that it leads to. */
  readonly to: string;
  /** Corners, both within the box. */
  readonly box: readonly [left: number, top: number, right: number, bottom: number];
}
/** Icons by screen. */
export type App = ReadonlyMap<string, readonly Icon[]>;

/** Icons and ways at random, such that every screen can be reached from every other that has icons. */
export function appOf(
  pages: readonly string[],
  icons: number,
  leaves: number,
  from: readonly string[],
  random: Random,
): App {
  for (let tried = 0; ; tried++) {
    const stream = random.split("try", tried);
    const bare = new Set(shuffled(pages, stream.split("leaves")).slice(0, leaves));
    const app = new Map(
      pages.map((page): [string, readonly Icon[]] => [
        page,
        bare.has(page)
          ? []
          : iconsOf(
              pages.filter((p) => p !== page),
              icons,
              from,
              stream.split(page),
            ),
      ]),
    );
    if (pages.every((a) => bare.has(a) || pages.every((b) => Number.isFinite(clicks(app, a, b))))) return app;
  }
}

function iconsOf(pages: readonly string[], count: number, from: readonly string[], random: Random): Icon[] {
  const [called, ways] = [shuffled(from, random), shuffled(pages, random)];
  const places = shuffled([0, 1, 2, 3, 4, 5, 6, 7, 8], random);
  return places.slice(0, count).map((place, i) => {
    const [left, top] = [(place % 3) * 4 + random.below(2), Math.floor(place / 3) * 4 + random.below(2)];
    const box = [left, top, left + 1 + random.below(2), top + 1 + random.below(2)] as const;
    return { name: called[i]!, to: ways[i]!, box };
  });
}

/** Clicks of a shortest way; infinite where there is none. */
export function clicks(app: App, from: string, to: string): number {
  const far = new Map([[from, 0]]);
  for (const [screen, n] of far) {
    if (screen === to) return n;
    for (const icon of app.get(screen)!) if (!far.has(icon.to)) far.set(icon.to, n + 1);
  }
  return Number.POSITIVE_INFINITY;
}
