/** The bar at the top: where one can go, and the theme. */
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { Account } from "./account.tsx";
import { openPalette } from "./palette.tsx";
import { places } from "./places.ts";
import { ThemeSwitch } from "./theme.tsx";

/** What the paths of a place begin with, where that is not its own. */
const beginning: Readonly<Record<string, string>> = { "/compare": "/compar" };

export function Bar() {
  const { path } = useLocation();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  const here = (place: string): boolean =>
    place === "/" ? path === "/" || path.startsWith("/runs") : path.startsWith(beginning[place] ?? place);
  return (
    <header class="bar">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <a class="mark" href="/">
        Whetstone
      </a>
      {path !== "/login" && (
        // on a narrow screen the places are behind a button, so that the bar stays one row
        <nav
          aria-label="Places"
          class={open ? "open" : ""}
          onKeyDown={(e) => {
            if (e.key === "Escape") setOpen(false);
          }}
        >
          <button
            type="button"
            class="places"
            aria-expanded={open}
            aria-controls="places"
            onClick={() => setOpen(!open)}
          >
            {places.find(([place]) => here(place))?.[1] ?? "Places"} ▾
          </button>
          <div id="places">
            {places.map(([place, name]) => (
              <a key={place} href={place} aria-current={here(place) ? "page" : undefined}>
                {name}
              </a>
            ))}
            <button type="button" class="quiet go" onClick={openPalette} aria-keyshortcuts="Control+K">
              Go to…
            </button>
          </div>
        </nav>
      )}
      <ThemeSwitch />
      {path !== "/login" && <Account />}
    </header>
  );
}
