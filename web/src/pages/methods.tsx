/** The catalogue: every method, to be found by what it is about. */
import { useState } from "preact/hooks";
import type { MethodRow, MethodsPage } from "../../../src/serve/dashboard/types.ts";
import { useLoaded } from "../api.ts";
import { useInAddress } from "../parts/inAddress.ts";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { digits } from "../parts/words.ts";

const verdicts = ["reproduced", "inconclusive", "not reproduced", "no check"];

export function Methods() {
  const {
    query: { query = "", family = "", verdict = "" },
    choose,
  } = useInAddress();
  const [text, setText] = useState(query);
  const loaded = useLoaded<MethodsPage>(`/api/methods?query=${encodeURIComponent(query)}`);
  const now = loaded.value;
  if (now.state === "waiting") return <Waiting what="methods" />;
  if (now.state === "failed") return <Failed what="Methods" why={now.why} />;
  const { methods, families, total } = now.data;
  const shown = methods.filter(
    (m) =>
      (family === "" || m.family === family) && (verdict === "" || (m.verdict ?? "no check") === verdict),
  );
  return (
    <>
      <h1>Methods</h1>
      <form
        class="tools"
        onSubmit={(e) => {
          e.preventDefault();
          choose({ query: text });
        }}
      >
        <label>
          About{" "}
          <input
            type="search"
            value={text}
            placeholder="credit for single turns…"
            onInput={(e) => setText(e.currentTarget.value)}
            onChange={(e) => choose({ query: e.currentTarget.value })}
          />
        </label>
        <label>
          Family{" "}
          <select value={family} onChange={(e) => choose({ family: e.currentTarget.value })}>
            <option value="">any</option>
            {families.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Verdict{" "}
          <select value={verdict} onChange={(e) => choose({ verdict: e.currentTarget.value })}>
            <option value="">any</option>
            {verdicts.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <span role="status" class="faint">
          {shown.length} of {total}
        </span>
      </form>
      {shown.length === 0 ? <Empty>No method fits.</Empty> : <List methods={shown} />}
    </>
  );
}

function List({ methods }: { readonly methods: readonly MethodRow[] }) {
  return (
    <ul class="catalogue">
      {methods.map((m) => (
        <li key={m.id}>
          <h2>
            <a href={`/methods/${m.id}`}>{m.id}</a> <span class="faint">{m.family}</span>
          </h2>
          <p>{m.summary}</p>
          {m.why !== undefined && <p class="faint">Found because it {m.why}.</p>}
          <p class="faint">
            {m.kind !== "method"
              ? `a ${m.kind}`
              : m.differs.length > 0
                ? `differs in ${m.differs.join(", ")}`
                : "a baseline"}
            {m.verdict && (
              <>
                {" · "}
                <span class={`verdict ${m.verdict.replaceAll(" ", "-")}`}>{m.verdict}</span>
                {m.effect !== undefined && ` (${m.effect > 0 ? "+" : ""}${digits(m.effect)})`}
              </>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}
