/** Which versions answer, what live evidence says of them, and the way to change it. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { TrafficSplit, Version } from "../../../src/core/served.ts";
import type { ReleaseState } from "../../../src/release/index.ts";
import type { VersionsBody } from "../../../src/serve/versions.ts";
import { ask, type Loaded, messageOf } from "../api.ts";
import { sayDiagnostics } from "../parts/estimateWords.ts";
import { boundWords, measureWords } from "../parts/guardrailWords.ts";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { Table } from "../parts/table.tsx";
import { Timeline } from "../parts/timeline.tsx";
import { digits, moment } from "../parts/words.ts";

interface All {
  readonly versions: readonly Version[];
  readonly splits: readonly TrafficSplit[];
  readonly state: ReleaseState;
}

export function Versions() {
  const [now, setNow] = useState<Loaded<All>>({ state: "waiting" });
  const load = async (): Promise<void> => {
    try {
      const [{ versions }, { splits }, state] = await Promise.all([
        ask<VersionsBody>("/v1/versions"),
        ask<{ readonly splits: readonly TrafficSplit[] }>("/v1/splits"),
        ask<ReleaseState>("/v1/versions/judgement"),
      ]);
      setNow({ state: "ready", data: { versions, splits, state } });
    } catch (e) {
      setNow({ state: "failed", why: messageOf(e) });
    }
  };
  useEffect(() => {
    document.title = "Versions · Whetstone";
    void load();
  }, []);
  if (now.state === "waiting") return <Waiting what="versions" />;
  if (now.state === "failed") return <Failed what="Versions" why={now.why} />;
  const { versions, splits, state } = now.data;
  if (versions.length === 0) {
    return (
      <Empty>
        <h1>No versions yet</h1>
        <p>
          What answers through the gateway is a version: <code>npx whetstone serve --upstream URL</code>
        </p>
      </Empty>
    );
  }
  return (
    <>
      <h1>Versions</h1>
      {splits.length === 0 ? <Alone versions={versions} /> : <Live state={state} reload={load} />}
      {state.judgements.map((j) => (
        <Verdict key={j.version} judgement={j} name={nameOf(versions, j.version)} />
      ))}
      {splits.length > 0 && <Splits splits={splits} versions={versions} />}
      <h2>All versions</h2>
      <ul>
        {versions.map((v) => (
          <li key={v.id}>
            <b>{v.name}</b> <span class="faint">{v.id}</span> <Backend of={v} />
            {v.note && (
              <>
                {": "}
                <bdi>{v.note}</bdi>
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

interface SplitsProps {
  readonly splits: readonly TrafficSplit[];
  readonly versions: readonly Version[];
}

/** What was decided so far, the latest first. */
function Splits({ splits, versions }: SplitsProps) {
  return (
    <>
      <h2>What was live</h2>
      <Timeline splits={splits} nameOf={(id) => nameOf(versions, id)} now={Date.now()} />
      <h2>Splits</h2>
      <Table
        label="Splits"
        file="splits"
        rows={splits.toReversed()}
        keyOf={({ id }) => id}
        columns={[
          { name: "Since", cell: ({ since }) => moment(new Date(since).toISOString()) },
          {
            name: "Shares",
            cell: ({ shares }) =>
              Object.entries(shares)
                .map(([id, share]) => `${nameOf(versions, id)} ${digits(100 * share)} %`)
                .join(", "),
          },
          { name: "By", cell: ({ unit }) => unit },
          { name: "Why", class: "words", cell: ({ why }) => <bdi>{why}</bdi>, value: ({ why }) => why },
        ]}
      />
    </>
  );
}

const nameOf = (versions: readonly Version[], id: string): string =>
  versions.find((v) => v.id === id)?.name ?? id;

function Backend({ of: { backend } }: { readonly of: Version }) {
  switch (backend.kind) {
    case "upstream":
      return <>{backend.url}</>;
    case "run":
      return <>{backend.folder}</>;
    case "artefact":
      return (
        <>
          {backend.over}, told{" "}
          <a href={`/artefacts/${encodeURIComponent(backend.artefact)}`}>{backend.artefact}</a>
        </>
      );
    default:
      return <>{backend.kind}</>;
  }
}

/** Without a split one version answers: who it is depends on how the gateway was started. */
function Alone({ versions }: { readonly versions: readonly Version[] }) {
  const last = versions.at(-1);
  return (
    <p>
      {versions.length === 1
        ? `${last?.name} answers alone.`
        : "There is no split: the version that whetstone serve was started with answers everybody."}{" "}
      <span class="faint">
        Another gets its share with <code>whetstone versions split {last?.id}=90% OTHER=10%</code>
      </span>
    </p>
  );
}

interface LiveProps {
  readonly state: ReleaseState;
  readonly reload: () => Promise<void>;
}

function Live({ state, reload }: LiveProps) {
  const [asked, setAsked] = useState<Asked>();
  const others = state.live.length > 1;
  return (
    <>
      {state.live.length === 1 && <p>{state.live[0]?.name} answers alone.</p>}
      <Table
        label="Live versions"
        file="live versions"
        rows={state.live}
        keyOf={({ version }) => version}
        columns={[
          {
            name: "Live",
            cell: ({ version, name }) => (
              <>
                {name} {version === state.baseline && <span class="faint">baseline</span>}
              </>
            ),
            value: ({ name }) => name,
          },
          { name: "Share", cell: ({ share }) => `${digits(100 * share)} %` },
          { name: "Units closed", cell: ({ units }) => units },
          { name: "Open", cell: ({ open }) => open },
          {
            name: "Worth: mean reward, off-policy",
            cell: ({ estimate }) =>
              estimate
                ? `${digits(estimate.interval.mean)} [${bound(estimate.interval.low)}, ${bound(estimate.interval.high)}]`
                : "no rewards yet",
          },
          { name: "Trusted", cell: ({ estimate }) => (estimate ? (estimate.trusted ? "yes" : "no") : "–") },
          {
            name: "Decide",
            acts: true,
            cell: ({ version, name }) =>
              others && (
                <>
                  <button type="button" onClick={() => setAsked({ what: "promote", version, name })}>
                    Promote…
                  </button>{" "}
                  <button type="button" onClick={() => setAsked({ what: "roll back", version, name })}>
                    Roll back…
                  </button>
                </>
              ),
          },
        ]}
      />
      <ul>
        {state.live.map(
          ({ version, name, estimate }) =>
            estimate && (
              <li key={version}>
                {name} rests on {sayDiagnostics(estimate.diagnostics, state.split?.unit ?? "session")}{" "}
                {!estimate.trusted && (
                  <span class="faint">Not to be trusted: {estimate.doubts.join("; ")}.</span>
                )}
              </li>
            ),
        )}
      </ul>
      {others && (
        <p class="tools">
          <button type="button" onClick={() => setAsked({ what: "hold" })}>
            Hold…
          </button>
          <span class="faint">keeps the shares as they are, with a reason on record</span>
        </p>
      )}
      {asked && <Confirm asked={asked} state={state} close={() => setAsked(undefined)} reload={reload} />}
    </>
  );
}

const bound = (x: number | null): string => (x === null ? "–" : digits(x));

type Asked =
  | { readonly what: "promote" | "roll back"; readonly version: string; readonly name: string }
  | { readonly what: "hold" };

const verbs = { promote: "Promote", "roll back": "Roll back", hold: "Hold" } as const;

interface ConfirmProps {
  readonly asked: Asked;
  readonly state: ReleaseState;
  readonly close: () => void;
  readonly reload: () => Promise<void>;
}

/** What each version is to get, and what that means for people. */
function outcomeOf(
  asked: Asked,
  { live }: ReleaseState,
): { readonly shares: Readonly<Record<string, number>>; readonly means: string } {
  if (asked.what === "hold") {
    const shares = Object.fromEntries(live.map((v) => [v.version, v.share]));
    return { shares, means: "Shares stay as they are, and what was seen under them goes on to count." };
  }
  const { what, version, name } = asked;
  const changes = "Sessions that run change over with their next call.";
  if (what === "promote") {
    const means = `From now on ${name} answers everybody; the other versions answer nobody. ${changes}`;
    return { shares: { [version]: 1 }, means };
  }
  const left = live.filter((v) => v.version !== version);
  const sum = left.reduce((so, { share }) => so + share, 0);
  const heirs = left.map((v) => v.name).join(", ");
  return {
    shares: Object.fromEntries(left.map((v) => [v.version, v.share / sum])),
    means: `From now on ${name} answers nobody; its share goes to ${heirs}. ${changes}`,
  };
}

/** Says what will happen, and asks for a reason, which is kept; before a promotion, for the name too. */
function Confirm({ asked, state, close, reload }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [why, setWhy] = useState("");
  const [typed, setTyped] = useState("");
  const [trouble, setTrouble] = useState("");
  useEffect(() => dialog.current?.showModal(), []);
  const verb = verbs[asked.what];
  const what = asked.what === "hold" ? "hold" : `${asked.what} ${asked.name}`;
  const { shares, means } = outcomeOf(asked, state);
  const send = async (): Promise<void> => {
    try {
      await ask("/v1/splits", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ shares, why: `${what}: ${why}`, unit: state.split?.unit ?? "session" }),
      });
      close();
      await reload();
    } catch (e) {
      setTrouble(messageOf(e));
    }
  };
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="confirm">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void send();
        }}
      >
        <h2 id="confirm">{asked.what === "hold" ? "Hold the split?" : `${verb} ${asked.name}?`}</h2>
        <p>{means}</p>
        {asked.what === "promote" && (
          <label>
            Type {asked.name} to go on
            <input
              value={typed}
              onInput={(e) => setTyped(e.currentTarget.value)}
              required
              autocomplete="off"
              spellcheck={false}
            />
          </label>
        )}
        <label>
          Why
          <input value={why} onInput={(e) => setWhy(e.currentTarget.value)} required maxLength={500} />
        </label>
        {trouble && (
          <p class="bad" role="alert">
            {trouble}
          </p>
        )}
        <p class="tools">
          <button type="submit" disabled={asked.what === "promote" && typed.trim() !== asked.name}>
            {verb}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  );
}

function Verdict({
  judgement: j,
  name,
}: {
  readonly judgement: ReleaseState["judgements"][number];
  readonly name: string;
}) {
  const { low, high, mean } = j.difference;
  return (
    <section class="verdict-of" aria-label={`Verdict on ${name}`}>
      <h2>
        {name}: {j.decision}
      </h2>
      <p>{j.why}</p>
      <p class="faint">
        Difference to the baseline {bound(mean)} [{bound(low)}, {bound(high)}], valid at every look with{" "}
        {digits(100 * j.confidence)} % confidence; {j.candidate.rewarded} of {j.candidate.units} units said
        something, of the baseline's {j.baseline.rewarded} of {j.baseline.units}.
      </p>
      {j.doubts.length > 0 && <p class="bad">{j.doubts.join("; ")}</p>}
      {j.guardrails.length > 0 && (
        <Table
          label={`Guardrails of ${name}`}
          file={`guardrails of ${name}`}
          rows={j.guardrails}
          keyOf={(g) => g.name}
          columns={[
            { name: "Guardrail", cell: (g) => g.name },
            { name: "Candidate", cell: (g) => measureWords(g.name, g.candidate) },
            { name: "Baseline", cell: (g) => measureWords(g.name, g.baseline) },
            { name: "Bound", cell: (g) => boundWords(g.name, g.bound) },
            {
              name: "State",
              cell: (g) => (
                <span class={g.state === "broken" ? "bad" : g.state === "kept" ? "good" : "faint"}>
                  {g.state}
                </span>
              ),
              value: (g) => g.state,
            },
          ]}
        />
      )}
    </section>
  );
}
