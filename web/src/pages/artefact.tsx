/** One version of what an agent is told: what changed, why, from which feedback, what it did to success, and who answers with it. */
import { useEffect } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { Origins } from "../../../src/core/artefact.ts";
import type { ArtefactDetail } from "../../../src/serve/dashboard/types.ts";
import type { JudgementBody } from "../../../src/serve/versions.ts";
import { useLoaded } from "../api.ts";
import { Difference } from "../parts/difference.tsx";
import { IntervalBar } from "../parts/intervalBar.tsx";
import { artefactPath, Lineage, measuredIn, sayRange, sayServed } from "../parts/lineage.tsx";
import { Long } from "../parts/long.tsx";
import { Many } from "../parts/many.tsx";
import { Failed, Waiting } from "../parts/notice.tsx";
import { SignalLine } from "../parts/signal.tsx";
import { Table } from "../parts/table.tsx";
import { digits, moment, percent } from "../parts/words.ts";

export function Artefact() {
  const { params } = useRoute();
  const loaded = useLoaded<ArtefactDetail>(`/api/artefacts/${encodeURIComponent(params.id ?? "")}`);
  const now = loaded.value;
  if (now.state === "waiting") return <Waiting what="the artefact" />;
  if (now.state === "failed") return <Failed what="The artefact" why={now.why} />;
  return <Whole version={now.data} key={now.data.id} />;
}

function Whole({ version: v }: { readonly version: ArtefactDetail }) {
  useEffect(() => {
    document.title = `${v.name} ${v.id.slice(0, 8)} · Whetstone`;
  }, [v]);
  return (
    <article class="artefact">
      <p class="crumbs">
        <a href="/artefacts">Artefacts</a>
      </p>
      <h1>
        <bdi>{v.name}</bdi> <span class="faint">{v.id}</span>
      </h1>
      <p class="facts">
        {v.is} · made {moment(new Date(v.created).toISOString())} by <bdi>{v.by}</bdi>
        {v.erased !== undefined && ` · ${v.erased} parts were erased since`}
      </p>
      <p class="lead">
        <bdi class="words">{v.why}</bdi>
      </p>
      <Changes version={v} />
      <Feedback version={v} />
      <Success version={v} />
      {v.served.length > 0 && <Served version={v} />}
      <h2>Lineage</h2>
      <Lineage rows={v.lineage} here={v.id} />
      <Contents version={v} />
    </article>
  );
}

function Changes({ version: { changes, parents } }: { readonly version: ArtefactDetail }) {
  return (
    <>
      <h2>What changed</h2>
      {parents.length === 0 && <p class="faint">It was made from no version before it.</p>}
      {parents.map((parent) => {
        const change = changes.find(({ before }) => before === parent);
        return (
          <section key={parent} aria-label={`Against ${parent}`}>
            <p>
              Against{" "}
              {change ? <a href={artefactPath(parent)}>{parent}</a> : `${parent}, which is not in this store`}
            </p>
            {change && <Difference parts={change.parts} same={change.same} />}
          </section>
        );
      })}
    </>
  );
}

/** What was read when it was made, with a way to each of it. */
function Feedback({ version: v }: { readonly version: ArtefactDetail }) {
  const { signals, sessions, episodes } = v.from;
  const known = new Set(v.feedback.map(({ session }) => session));
  const others = v.sessions.filter((session) => !known.has(session));
  const lost = signals - v.feedback.length;
  return (
    <>
      <h2>From which feedback</h2>
      {signals + sessions + episodes === 0 && <p class="faint">It was written without anybody's data.</p>}
      {v.feedback.length > 0 && (
        <ul class="signals">
          {v.feedback.map(({ signal, session }) => (
            <li key={signal.id} id={signal.id}>
              <SignalLine signal={signal} />{" "}
              {session !== undefined && (
                <a href={sessionPath(session, signal.about[0]?.response)}>The session</a>
              )}
            </li>
          ))}
        </ul>
      )}
      {lost > 0 && (
        <p class="faint">
          {lost} of {signals} signals {lost === 1 ? "is" : "are"} not shown: not in this store, or beyond the
          first 200.
        </p>
      )}
      {others.length > 0 && (
        <p>
          Sessions:{" "}
          {others.map((session) => (
            <a key={session} class="run" href={sessionPath(session)}>
              <bdi>{session}</bdi>
            </a>
          ))}
        </p>
      )}
      {episodes > 0 && <Episodes version={v} />}
    </>
  );
}

const sessionPath = (session: string, response?: string): string =>
  `/sessions/${encodeURIComponent(session)}${response === undefined ? "" : `#${encodeURIComponent(response)}`}`;

function Episodes({ version: { episodes, from } }: { readonly version: ArtefactDetail }) {
  const kept = episodes.flatMap(({ id, at }) => (at ? [{ id, ...at }] : []));
  return (
    <p>
      {from.episodes} {from.episodes === 1 ? "episode" : "episodes"} of runs were read
      {kept.length > 0 ? ": " : ", of which none is kept."}
      {kept.map(({ id, run, phase, iteration }) => (
        <a
          key={id}
          class="run"
          href={`/runs/${encodeURIComponent(run)}/episode?${new URLSearchParams({ id, phase, iteration: String(iteration) })}`}
        >
          <bdi>{id}</bdi>
        </a>
      ))}
    </p>
  );
}

/** Versions of a table that are shown: the last ones. */
const mostShown = 50;

/** Where it, or what it comes from or led to, was measured: beside each other. */
function Success({ version: v }: { readonly version: ArtefactDetail }) {
  const places = [...measuredIn(v.lineage)];
  return (
    <>
      <h2>What it did to success</h2>
      {places.length === 0 && (
        <p class="faint">
          No run has measured it. Where it answers, what people say of its answers stands below.
        </p>
      )}
      {places.map(([where, found]) => (
        <Table
          key={where}
          label={`${where}, 95 % intervals`}
          labelled
          file={`${v.name} on ${where.replaceAll("/", " ")}`}
          rows={found.slice(-mostShown)}
          keyOf={({ row, measure }) => `${row.id} ${measure.at} ${measure.run}`}
          columns={[
            {
              name: "Version",
              cell: ({ row }) => (
                <>
                  <a href={artefactPath(row.id)} aria-current={row.id === v.id ? "true" : undefined}>
                    {row.id.slice(0, 8)}
                  </a>{" "}
                  {row.id === v.id ? "this one" : v.parents.includes(row.id) ? "made from" : ""}
                </>
              ),
              value: ({ row }) => row.id,
            },
            { name: "Success", class: "number", cell: ({ measure }) => sayRange(measure.success) },
            {
              name: "From 0 to 100 %",
              head: (
                <span class="scale-ends">
                  <span>0 %</span>
                  <span>100 %</span>
                </span>
              ),
              cell: ({ measure }) => <IntervalBar of={measure.success} />,
            },
            { name: "Tasks", class: "number", cell: ({ measure }) => measure.success.n },
            {
              name: "Run",
              cell: ({ measure: { run } }) =>
                run === undefined ? (
                  "–"
                ) : (
                  <a href={`/runs/${encodeURIComponent(run)}`}>
                    <bdi>{run.split(/[\\/]/).at(-1)}</bdi>
                  </a>
                ),
              value: ({ measure: { run } }) => run ?? null,
            },
            { name: "Measured", cell: ({ measure }) => moment(new Date(measure.at).toISOString()) },
          ]}
        />
      ))}
    </>
  );
}

/** The versions that answer with it, and what live evidence says of them. */
function Served({ version: { name, served, splits } }: { readonly version: ArtefactDetail }) {
  const judged = useLoaded<JudgementBody>("/v1/versions/judgement").value;
  const nameOf = (id: string): string => served.find(({ version }) => version === id)?.name ?? id;
  return (
    <>
      <h2>Where it answers</h2>
      <ul>
        {served.map((one) => (
          <li key={one.version}>
            {sayServed(one)} <span class="faint">{one.version}</span>
            {judged.state === "ready" && <Worth of={one.version} state={judged.data} />}
            {judged.state === "failed" && <span class="bad"> {judged.why}</span>}
          </li>
        ))}
      </ul>
      <p>
        <a href="/versions">All versions</a>
      </p>
      {splits.length > 0 && (
        <Table
          label="Splits that it had a share in"
          labelled
          file={`splits of ${name}`}
          rows={splits.toReversed()}
          keyOf={({ since }) => String(since)}
          columns={[
            { name: "Since", cell: ({ since }) => moment(new Date(since).toISOString()) },
            {
              name: "Share",
              cell: ({ shares }) =>
                shares.map(({ version, share }) => `${nameOf(version)} ${percent(share)}`).join(", "),
            },
            { name: "Why", class: "words", cell: ({ why }) => <bdi>{why}</bdi>, value: ({ why }) => why },
          ]}
        />
      )}
    </>
  );
}

function Worth({ of: version, state }: { readonly of: string; readonly state: JudgementBody }) {
  const live = state.live.find((one) => one.version === version);
  const judgement = state.judgements.find((one) => one.version === version);
  if (!live) return null;
  const { estimate } = live;
  return (
    <>
      {": "}
      {estimate
        ? `worth ${digits(estimate.interval.mean)} ${between(estimate.interval)}${estimate.trusted ? "" : ", not to be trusted yet"}`
        : "no rewards yet"}
      {judgement && (
        <>
          {"; "}against the baseline{" "}
          {judgement.difference.mean === null ? "–" : digits(judgement.difference.mean)}{" "}
          {between(judgement.difference)}: <b>{judgement.decision}</b>, {judgement.why}
        </>
      )}
    </>
  );
}

const between = ({ low, high }: { readonly low: number | null; readonly high: number | null }): string =>
  `[${low === null ? "–" : digits(low)}, ${high === null ? "–" : digits(high)}]`;

function Contents({ version: { contents } }: { readonly version: ArtefactDetail }) {
  return (
    <details>
      <summary>
        All of it: {contents.length} {contents.length === 1 ? "part" : "parts"}
      </summary>
      <Many items={contents} what="parts" first={100}>
        {({ key, title, text, score, shown, origins }) => (
          <section key={key} class="change">
            <h3>
              {title}{" "}
              <span class="faint">
                {score !== undefined && `worth ${digits(score)}, shown ${shown ?? 0} times · `}
                {origins && <Made by={origins} />}
              </span>
            </h3>
            <div class="lines">
              <bdi>
                <Long text={text} first={4000} />
              </bdi>
            </div>
          </section>
        )}
      </Many>
    </details>
  );
}

/** Sessions of one part that are named. */
const mostNamed = 5;

function Made({ by: { by, from } }: { readonly by: Origins }) {
  const { sessions, signals } = from;
  return (
    <>
      by <bdi>{by}</bdi>
      {signals.length > 0 && ` from ${signals.length} ${signals.length === 1 ? "signal" : "signals"}`}
      {sessions.length > 0 && " in "}
      {sessions.slice(0, mostNamed).map((session) => (
        <a key={session} class="run" href={sessionPath(session)}>
          <bdi>{session}</bdi>
        </a>
      ))}
      {sessions.length > mostNamed && `and ${sessions.length - mostNamed} more sessions`}
    </>
  );
}
