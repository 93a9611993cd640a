/** One method: how it works, what it changes, and what a small experiment found. */
import { useEffect, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { MethodDetail } from "../../../src/serve/dashboard/types.ts";
import { useLoaded } from "../api.ts";
import { Equation } from "../parts/equation.tsx";
import { Evidence } from "../parts/evidence.tsx";
import { Failed, Waiting } from "../parts/notice.tsx";
import { digits, duration } from "../parts/words.ts";

export function Method() {
  const { params } = useRoute();
  const loaded = useLoaded<MethodDetail>(`/api/methods/${encodeURIComponent(params.id ?? "")}`);
  const now = loaded.value;
  if (now.state === "waiting") return <Waiting what="the method" />;
  if (now.state === "failed") return <Failed what="The method" why={now.why} />;
  return <Whole method={now.data} />;
}

function Whole({ method: m }: { readonly method: MethodDetail }) {
  useEffect(() => {
    document.title = `${m.id} · Whetstone`;
  }, [m.id]);
  return (
    <article class="method">
      <p class="crumbs">
        <a href="/methods">Methods</a> ›{" "}
        <a href={`/methods?family=${encodeURIComponent(m.family)}`}>{m.family}</a>
      </p>
      <h1>{m.id}</h1>
      <p class="lead">{m.summary}</p>
      {m.paper && <p class="faint">{m.paper}</p>}
      {m.mechanism && (
        <section>
          <h2>Mechanism</h2>
          <p>{m.mechanism}</p>
        </section>
      )}
      {m.law && (
        <section>
          <h2>Law</h2>
          <p>{m.law}</p>
        </section>
      )}
      {m.equation && (
        <section>
          <h2>Mathematics</h2>
          <Equation text={m.equation} />
        </section>
      )}
      {m.slots.length > 0 && <Composition method={m} />}
      {m.source && (
        <section>
          <h2>Where its constants come from</h2>
          <p>{m.source}</p>
        </section>
      )}
      <section>
        <h2>Evidence</h2>
        <Found method={m} />
      </section>
      <section>
        <h2>Try it</h2>
        <Command text={m.command} />
      </section>
    </article>
  );
}

function Composition({ method: m }: { readonly method: MethodDetail }) {
  const settings = Object.entries(m.settings);
  return (
    <section>
      <h2>Composition</h2>
      <ol class="slots">
        {m.slots.map(({ slot, pieces, differs }) => (
          <li key={slot} class={differs ? "lit" : ""}>
            <b>{slot}</b>
            <span>{pieces.length > 0 ? pieces.join(", ") : differs ? "its own" : "as the baseline"}</span>
            {differs && <span class="copied"> (differs from the baseline)</span>}
          </li>
        ))}
      </ol>
      <p class="faint">
        {m.slots.some((s) => s.differs)
          ? "Lit: what differs from the GRPO baseline. "
          : "The baseline itself. "}
        Needs {m.needs.join(", ")}
        {settings.length > 0 &&
          `; settings ${settings.map(([name, value]) => `${name} ${String(value)}`).join(", ")}`}
        .
      </p>
      {m.options.length > 0 && (
        <ul class="faint">
          {m.options.map((option) => (
            <li key={option.name}>
              <code>--set {option.name}=</code> {option.help} (default {String(option.default)};{" "}
              {option.range})
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Found({ method: { evidence: e, id, opponents, caveats = [] } }: { readonly method: MethodDetail }) {
  if (!e)
    return (
      <p class="faint">
        None: baselines are what others are measured against, and a check may not have been run yet.
      </p>
    );
  const chosen = (arm: typeof e.method): string =>
    Object.entries(arm.chosen)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(", ");
  return (
    <>
      <p>
        <span class={`verdict ${e.verdict.replaceAll(" ", "-")}`}>{e.verdict}</span>: {e.claim}
      </p>
      <Evidence evidence={e} />
      <ul class="faint">
        <li>
          baseline: {e.baseline.what} ({chosen(e.baseline)})
        </li>
        <li>
          {id}: {e.method.what} ({chosen(e.method)})
        </li>
        <li>
          {e.seeds.length} seeds, attempt {e.attempts}, {duration(e.seconds)}; the shaded band is smaller than
          what was stated to be of interest
        </li>
        {opponents && (
          <li>
            level {e.level}; its ingredient: {opponents.ingredient}
            {opponents.simpler &&
              `, ahead of "${opponents.simpler.what}" by ${digits(opponents.simpler.lead.mean)} [${digits(opponents.simpler.lead.low)}, ${digits(opponents.simpler.lead.high)}]`}
          </li>
        )}
        {caveats.map((caveat) => (
          <li key={caveat}>{caveat}</li>
        ))}
      </ul>
      {e.notes && <p>{e.notes}</p>}
    </>
  );
}

function Command({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <p class="command">
      <code>{text}</code>{" "}
      <button
        type="button"
        onClick={() => {
          void navigator.clipboard.writeText(text).then(() => setCopied(true));
        }}
      >
        {copied ? "Copied" : "Copy"}
      </button>
    </p>
  );
}
