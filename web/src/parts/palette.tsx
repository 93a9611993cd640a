/** Everything one can go to or do, found by typing: places, runs, kept views. And which keys work here. */
import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { RunsPage } from "../../../src/serve/dashboard/types.ts";
import { ask } from "../api.ts";
import { keysHere, useKeys } from "./keys.ts";
import { places } from "./places.ts";
import { forgetView, keepView, views } from "./views.ts";

const shown = signal<"palette" | "keys" | undefined>(undefined);
export const openPalette = (): void => {
  shown.value = "palette";
};

/** Goes to the first field that searches the page. */
function search(): void {
  document.querySelector<HTMLInputElement>("main input[type=search]")?.focus();
}

export function Palette() {
  const { path } = useLocation();
  const keys = useMemo(
    () => [
      { key: "?", does: "these keys", act: () => void (shown.value = "keys") },
      { key: "/", does: "search on this page", act: search },
    ],
    [],
  );
  useKeys(keys);
  useEffect(() => {
    const pressed = (e: KeyboardEvent): void => {
      if (e.key.toLowerCase() !== "k" || !(e.ctrlKey || e.metaKey)) return;
      e.preventDefault();
      openPalette();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  if (path === "/login" || shown.value === undefined) return null;
  return shown.value === "keys" ? <Keys /> : <Commands />;
}

function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return dialog;
}

const close = (): void => {
  shown.value = undefined;
};

function Keys() {
  return (
    <dialog ref={useModal()} onClose={close} aria-labelledby="keys">
      <h2 id="keys">Keys on this page</h2>
      <dl class="keys">
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>K</kbd>
          </dt>
          <dd>go to a place, a run or a kept view</dd>
        </div>
        {keysHere().map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{names[key] ?? key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

const names: Readonly<Record<string, string>> = { ArrowLeft: "←", ArrowRight: "→" };

interface Command {
  readonly name: string;
  readonly kind: string;
  readonly act: () => void;
}

/** Most commands that are listed at once. */
const most = 12;

function Commands() {
  const { route } = useLocation();
  const dialog = useModal();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const [runs, setRuns] = useState<RunsPage["runs"]>([]);
  useEffect(() => {
    // without runs the palette still has the places
    ask<RunsPage>("/api/runs").then(
      (page) => setRuns(page.runs),
      () => {},
    );
  }, []);
  const go = (to: string) => () => route(to);
  const here = location.pathname + location.search;
  const all: readonly Command[] = [
    ...views.value.map(({ name, path }) => ({ name, kind: "view", act: go(path) })),
    ...places.map(([path, name]) => ({ name, kind: "place", act: go(path) })),
    ...runs.map(({ id, name, method, env }) => ({
      name: `${name} · ${method} on ${env}`,
      kind: "run",
      act: go(`/runs/${encodeURIComponent(id)}`),
    })),
    ...views.value.map(({ name }) => ({ name: `Forget ${name}`, kind: "view", act: () => forgetView(name) })),
  ];
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = all.filter(({ name, kind }) =>
    words.every((word) => `${name} ${kind}`.toLowerCase().includes(word)),
  );
  const name = typed.trim();
  const keep: Command = {
    name: `Keep this view as “${name}”`,
    kind: "view",
    act: () => keepView({ name, path: here }),
  };
  const listed = [...fitting.slice(0, most), ...(name ? [keep] : [])];
  const choose = (command: Command | undefined): void => {
    close();
    command?.act();
  };
  const move = (e: KeyboardEvent): void => {
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (by === 0) return;
    e.preventDefault();
    setAt((at + by + listed.length) % Math.max(1, listed.length));
  };
  return (
    <dialog ref={dialog} onClose={close} class="palette" aria-label="Go to">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          choose(listed[at]);
        }}
      >
        <input
          autofocus
          role="combobox"
          aria-label="Go to"
          aria-expanded="true"
          aria-controls="commands"
          aria-activedescendant={listed[at] ? `command-${at}` : undefined}
          placeholder="A place, a run, a view; or a name to keep this view"
          value={typed}
          onInput={(e) => {
            setTyped(e.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={move}
        />
        <div id="commands" role="listbox" aria-label="Commands">
          {listed.map((command, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
            <div
              key={`${command.kind} ${command.name}`}
              id={`command-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === at}
              onClick={() => choose(command)}
            >
              <bdi>{command.name}</bdi> <span class="faint">{command.kind}</span>
            </div>
          ))}
        </div>
      </form>
    </dialog>
  );
}
