/** Served sessions, the last active first. */
import { useEffect } from "preact/hooks";
import type { SessionsBody } from "../../../src/serve/records.ts";
import { useLoaded } from "../api.ts";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { Table } from "../parts/table.tsx";
import { moment } from "../parts/words.ts";

export function Sessions() {
  const loaded = useLoaded<SessionsBody>("/v1/sessions?limit=200");
  useEffect(() => {
    document.title = "Sessions · Whetstone";
  }, []);
  const now = loaded.value;
  if (now.state === "waiting") return <Waiting what="sessions" />;
  if (now.state === "failed") return <Failed what="Sessions" why={now.why} />;
  const { sessions } = now.data;
  if (sessions.length === 0) {
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
      <Table
        label="Sessions"
        file="sessions"
        rows={sessions}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Session",
            cell: ({ id }) => (
              <a href={`/sessions/${encodeURIComponent(id)}`}>
                <bdi>{id}</bdi>
              </a>
            ),
            value: ({ id }) => id,
          },
          { name: "User", cell: ({ user }) => <bdi>{user ?? "–"}</bdi>, value: ({ user }) => user ?? null },
          { name: "Replies", cell: ({ responses }) => responses },
          { name: "Trajectories", cell: ({ trajectories }) => trajectories },
          { name: "Signals", cell: ({ signals }) => signals },
          { name: "Last", cell: ({ last }) => moment(new Date(last).toISOString()) },
        ]}
      />
    </>
  );
}
