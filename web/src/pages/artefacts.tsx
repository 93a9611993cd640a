/** What agents are told and remember: every artefact with its versions as a tree. */
import { useEffect, useState } from "preact/hooks";
import type { ArtefactRow, ArtefactsPage } from "../../../src/serve/dashboard/types.ts";
import { useLoaded } from "../api.ts";
import { Lineage } from "../parts/lineage.tsx";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";

/** Versions of one artefact that are shown at first: the last ones. */
const first = 50;

export function Artefacts() {
  const loaded = useLoaded<ArtefactsPage>("/api/artefacts");
  useEffect(() => {
    document.title = "Artefacts · Whetstone";
  }, []);
  const now = loaded.value;
  if (now.state === "waiting") return <Waiting what="artefacts" />;
  if (now.state === "failed") return <Failed what="Artefacts" why={now.why} />;
  const { artefacts, total } = now.data;
  if (total === 0) {
    return (
      <Empty>
        <h1>No artefacts yet</h1>
        <p>
          Bring in what an agent is told: <code>npx whetstone artefacts import prompts/support.md</code>, or
          make lessons of what people corrected: <code>npx whetstone artefacts learn</code>
        </p>
      </Empty>
    );
  }
  const named = [...Map.groupBy(artefacts, ({ name }) => name)];
  return (
    <>
      <h1>Artefacts</h1>
      <p class="faint">
        What agents are told and remember. Success is where a version was measured last, with its 95 %
        interval.
        {total > artefacts.length && ` These are the last ${artefacts.length} of ${total} versions.`}
      </p>
      {named.toReversed().map(([name, rows]) => (
        <One key={name} name={name} rows={rows} />
      ))}
    </>
  );
}

function One({ name, rows }: { readonly name: string; readonly rows: readonly ArtefactRow[] }) {
  const [shown, setShown] = useState(first);
  const kinds = [...new Set(rows.map(({ is }) => is))];
  return (
    <section>
      <h2>
        <bdi>{name}</bdi>{" "}
        <span class="faint">
          {kinds.join(", ")}, {rows.length} {rows.length === 1 ? "version" : "versions"}
        </span>
      </h2>
      {rows.length > shown && (
        <button type="button" onClick={() => setShown(rows.length)}>
          Show the first {rows.length - shown} too
        </button>
      )}
      <Lineage rows={rows.slice(-shown)} />
    </section>
  );
}
