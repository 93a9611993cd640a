/** The bar at the top: where one can go, and the theme. */
import { useLocation } from "preact-iso";
import { Account } from "./account.tsx";
import { ThemeSwitch } from "./theme.tsx";

const places: readonly (readonly [path: string, name: string])[] = [
  ["/", "Runs"],
  ["/compare", "Compare"],
  ["/methods", "Methods"],
  ["/inbox", "Inbox"],
  ["/sessions", "Sessions"],
  ["/artefacts", "Artefacts"],
  ["/versions", "Versions"],
];

export function Bar() {
  const { path } = useLocation();
  const here = (place: string): boolean =>
    place === "/" ? path === "/" || path.startsWith("/runs") : path.startsWith(place);
  return (
    <header class="bar">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <a class="mark" href="/">
        Whetstone
      </a>
      {path !== "/login" && (
        <nav aria-label="Places">
          {places.map(([place, name]) => (
            <a key={place} href={place} aria-current={here(place) ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
      )}
      <ThemeSwitch />
      {path !== "/login" && <Account />}
    </header>
  );
}
