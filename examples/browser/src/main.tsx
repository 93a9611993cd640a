/** The page: a success curve and what the agent says, with the credit of each token, while it learns. */
import { signal } from "@preact/signals";
import { render } from "preact";
import { Chart } from "../../../web/src/parts/chart.tsx";
import { ThemeSwitch } from "../../../web/src/parts/theme.tsx";
import { percent } from "../../../web/src/parts/words.ts";
import "../../../web/src/style.css";
import { Episodes } from "./episodes.tsx";
import type { Asked, Told } from "./learning.ts";
import "./page.css";

type Iteration = Extract<Told, { kind: "iteration" }>;

/** `?engine=tables`, `?seed=2`, `?iterations=40`, `?attempts=8`; `?software` also takes a software adapter, which is slow. */
const address = new URLSearchParams(location.search);
const asked: Asked = {
  seed: Number(address.get("seed") ?? 1),
  iterations: Number(address.get("iterations") ?? 60),
  attempts: Number(address.get("attempts") ?? 16),
  engine: address.get("engine") === "tables" ? "tables" : "gpu",
  software: address.has("software"),
};

const state = signal<"ready" | "learning" | "done" | "stopped" | "failed">("ready");
const device = signal<Extract<Told, { kind: "started" }> | undefined>(undefined);
const failure = signal("");
const iterations = signal<readonly Iteration[]>([]);
/** The iteration that is shown; undefined: the newest. */
const chosen = signal<number | undefined>(undefined);
let worker: Worker | undefined;

function told(message: Told): void {
  if (message.kind === "started") device.value = message;
  else if (message.kind === "iteration") iterations.value = [...iterations.value, message];
  else {
    state.value = message.kind;
    if (message.kind === "failed") failure.value = message.message;
  }
}

function start(engine: Asked["engine"]): void {
  worker?.terminate();
  [iterations.value, chosen.value, device.value, failure.value] = [[], undefined, undefined, ""];
  state.value = "learning";
  worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }: MessageEvent<Told>) => told(data));
  worker.addEventListener("error", ({ message }) => told({ kind: "failed", message }));
  worker.postMessage({ ...asked, engine });
}

function stop(): void {
  worker?.terminate();
  state.value = "stopped";
}

function Buttons() {
  if (state.value === "learning") {
    return (
      <button type="button" onClick={stop}>
        Stop
      </button>
    );
  }
  const again = state.value === "ready" ? "Let it learn" : "Learn again";
  return (
    <>
      <button type="button" onClick={() => start(asked.engine)}>
        {again}
      </button>{" "}
      {asked.engine === "gpu" && (
        <button type="button" class="quiet" onClick={() => start("tables")}>
          with plain tables
        </button>
      )}
    </>
  );
}

/** Where it learns, how far it is, and why it does not go on. */
function Status() {
  const { value: on } = device;
  const last = iterations.value.at(-1);
  const place =
    on === undefined
      ? state.value === "learning" && "Looking for a GPU …"
      : on.device === "tables"
        ? "Plain tables on the CPU: a table of words after each observation."
        : `A transformer with two heads on ${on.device || "this page's GPU"}.`;
  return (
    <p class="facts" role="status">
      {place}
      {on?.why && <span class="faint"> No GPU: {on.why}</span>}
      {last && (
        <>
          {" "}
          Iteration {last.iteration} of {asked.iterations}, {last.seconds.toFixed(2)} s each, success{" "}
          {percent(last.success)}.
        </>
      )}
      {state.value === "done" && " Done."}
      {state.value === "stopped" && " Stopped."}
      {state.value === "failed" && <strong> Failed: {failure.value}</strong>}
    </p>
  );
}

function Shown() {
  const all = iterations.value;
  const at = Math.min(chosen.value ?? all.length - 1, all.length - 1);
  const shown = all[at];
  if (!shown) return null;
  return (
    <>
      <Chart
        title="Guests served"
        unit="share of episodes"
        x={all.map(({ iteration }) => iteration)}
        lines={[{ name: "guests served", values: all.map(({ success }) => success) }]}
        onOpen={(index) => {
          chosen.value = index;
        }}
        words={percent}
      />
      <label class="which">
        Episodes of iteration {shown.iteration}
        <input
          type="range"
          min={0}
          max={all.length - 1}
          value={at}
          onInput={(e) => {
            const to = Number(e.currentTarget.value);
            chosen.value = to === all.length - 1 ? undefined : to;
          }}
        />
      </label>
      <Episodes episodes={shown.episodes} />
    </>
  );
}

function Page() {
  return (
    <>
      <header class="bar">
        <span class="mark">Whetstone</span>
        <nav>
          <span class="faint">in a browser</span>
        </nav>
        <ThemeSwitch />
      </header>
      <main>
        <h1>An agent that learns in this page</h1>
        <p>
          Guests order tea, coffee, cocoa or lemonade. The agent has eight words to choose from and knows no
          recipe. A right step pays 0.25, a served drink 1, and after six words the guest leaves. Each word is
          credited against the other words that were said at the same step of the same order: it did{" "}
          <span class="token up4">better</span> or <span class="token down4">worse</span> than those.
        </p>
        <p class="tools">
          <Buttons />
        </p>
        <Status />
        <Shown />
      </main>
    </>
  );
}

render(<Page />, document.getElementById("app")!);
