/** Served sessions, the last active first. */
import { useEffect } from "preact/hooks";
import type { SessionsBody } from "../../../src/serve/records.ts";
import { useLoaded } from "../api.ts";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
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
      <div class="wide">
        <table>
          <thead>
            <tr>
              {["Session", "User", "Replies", "Trajectories", "Signals", "Last"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sessions.map((s) => (
              <tr key={s.id}>
                <th scope="row">
                  <a href={`/sessions/${encodeURIComponent(s.id)}`}>
                    <bdi>{s.id}</bdi>
                  </a>
                </th>
                <td>
                  <bdi>{s.user ?? "–"}</bdi>
                </td>
                <td>{s.responses}</td>
                <td>{s.trajectories}</td>
                <td>{s.signals}</td>
                <td>{moment(new Date(s.last).toISOString())}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
