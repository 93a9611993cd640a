/** Served sessions, the last active first: what each is about, how it went, and what it took. */
import { useEffect } from "preact/hooks";
import type { SessionRow, SessionsBody } from "../../../src/serve/records.ts";
import { useLoaded } from "../api.ts";
import { measureWords } from "../parts/guardrailWords.ts";
import { useInAddress } from "../parts/inAddress.ts";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { dollars, moment } from "../parts/words.ts";

/** Sessions of one page. */
const perPage = 50;

const columns: readonly Column<SessionRow>[] = [
  {
    name: "About",
    class: "about",
    cell: ({ id, preview }) => (
      <a href={`/sessions/${encodeURIComponent(id)}`}>
        <bdi>{preview || id}</bdi>
      </a>
    ),
    value: ({ preview }) => preview ?? null,
  },
  { name: "User", cell: ({ user }) => <bdi>{user ?? "–"}</bdi>, value: ({ user }) => user ?? null },
  { name: "Replies", cell: ({ responses }) => responses },
  {
    name: "Errors",
    cell: ({ failed }) => <span class={failed > 0 ? "bad" : "even"}>{failed}</span>,
    value: ({ failed }) => failed,
  },
  { name: "Signals", cell: ({ signals }) => signals },
  {
    name: "Time a reply",
    cell: ({ responses, ms }) => (responses > 0 ? measureWords("latency", ms) : "–"),
    value: ({ responses, ms }) => (responses > 0 ? ms / 1000 : null),
  },
  {
    name: "Tokens in, out",
    cell: ({ usage }) =>
      usage ? `${usage.input.toLocaleString("en-GB")}, ${usage.output.toLocaleString("en-GB")}` : "–",
  },
  {
    name: "Cost",
    cell: ({ usd }) => (usd === undefined ? "–" : dollars(usd)),
    value: ({ usd }) => usd ?? null,
  },
  { name: "Last", cell: ({ last }) => moment(new Date(last).toISOString()) },
  { name: "Session", class: "about faint", cell: ({ id }) => <bdi>{id}</bdi>, value: ({ id }) => id },
];

export function Sessions() {
  const { query, choose } = useInAddress();
  const { text = "", failed = "false" } = query;
  const offset = /^\d+$/.test(query.offset ?? "") ? Number(query.offset) : 0;
  // one more than is shown tells whether there are more
  const asked = { limit: String(perPage + 1), offset: String(offset), text, failed, preview: "true" };
  const now = useLoaded<SessionsBody>(`/v1/sessions?${new URLSearchParams(asked)}`).value;
  useEffect(() => {
    document.title = "Sessions · Whetstone";
  }, []);
  if (now.state === "failed") return <Failed what="Sessions" why={now.why} />;
  if (
    now.state === "ready" &&
    now.data.sessions.length === 0 &&
    !text &&
    failed === "false" &&
    offset === 0
  ) {
    return (
      <Empty>
        <h1>No sessions yet</h1>
        <p>
          Point an agent's base URL at the gateway: <code>npx whetstone serve --upstream URL</code>
        </p>
      </Empty>
    );
  }
  return (
    <>
      <h1>Sessions</h1>
      <form class="tools" onSubmit={(e) => e.preventDefault()}>
        <label>
          Find{" "}
          <input
            type="search"
            placeholder="user, words in it"
            value={text}
            onChange={(e) => choose({ text: e.currentTarget.value, offset: undefined })}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={failed === "true"}
            onChange={(e) =>
              choose({ failed: e.currentTarget.checked ? "true" : undefined, offset: undefined })
            }
          />{" "}
          Only with errors
        </label>
      </form>
      {now.state === "waiting" ? (
        <Waiting what="sessions" />
      ) : now.data.sessions.length === 0 ? (
        <Empty>No session fits.</Empty>
      ) : (
        <>
          <Table
            label="Sessions"
            file="sessions"
            rows={now.data.sessions.slice(0, perPage)}
            keyOf={({ id }) => id}
            columns={columns}
          />
          <p class="tools">
            <button
              type="button"
              disabled={offset === 0}
              onClick={() => choose({ offset: offset > perPage ? String(offset - perPage) : undefined })}
            >
              Before
            </button>
            <button
              type="button"
              disabled={now.data.sessions.length <= perPage}
              onClick={() => choose({ offset: String(offset + perPage) })}
            >
              Next
            </button>
          </p>
        </>
      )}
    </>
  );
}
