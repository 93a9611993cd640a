/** One run: what it brought, what is off with it, and its curves as it goes on. */
import { signal } from "@preact/signals";
import { memo } from "preact/compat";
import { useEffect, useMemo } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { RunDetail, RunRow } from "../../../src/serve/dashboard/types.ts";
import { ask, type Loaded, messageOf, useEvents } from "../api.ts";
import { Failed, Waiting } from "../parts/notice.tsx";
import { paced } from "../parts/paced.ts";
import { CurvesOf } from "../parts/run/curves.tsx";
import { Evaluations } from "../parts/run/evaluations.tsx";
import { Headline } from "../parts/run/headline.tsx";
import { Health } from "../parts/run/health.tsx";
import { Trouble } from "../parts/run/state.tsx";
import { duration, moment } from "../parts/words.ts";

/** To draw all charts anew costs some three times what asking for the run does: 2 % of one core in all. */
const pace = { least: 1000, most: 10_000, times: 150 };

export function Run() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const path = `/api/runs/${encodeURIComponent(id)}`;
  const loaded = useMemo(() => signal<Loaded<RunDetail>>({ state: "waiting" }), []);
  const { load, leave } = useMemo(() => {
    const control = new AbortController();
    const { signal: left } = control;
    const read = async (): Promise<void> => {
      try {
        loaded.value = { state: "ready", data: await ask<RunDetail>(path, { signal: left }) };
      } catch (e) {
        if (!left.aborted) loaded.value = { state: "failed", why: messageOf(e) };
      }
    };
    return { load: paced(read, pace), leave: () => control.abort() };
  }, [path, loaded]);
  useEffect(() => {
    load();
    return leave;
  }, [load, leave]);
  useEvents<RunRow>(`${path}/live`, "run", load);

  const now = loaded.value;
  if (now.state === "waiting") return <Waiting what="the run" />;
  if (now.state === "failed") return <Failed what="The run" why={now.why} />;
  return <Whole run={now.data} path={path} />;
}

const Whole = memo(({ run, path }: { readonly run: RunDetail; readonly path: string }) => {
  useEffect(() => {
    document.title = `${run.name} · Whetstone`;
  }, [run.name]);
  return (
    <>
      <p class="crumbs">
        <a href="/">Runs</a>
      </p>
      <h1>{run.name}</h1>
      <p class="facts">
        <a href={`/methods/${encodeURIComponent(run.method)}`}>{run.method}</a> on {run.env} · {run.computed}{" "}
        · seed {run.seed} · since {moment(run.started)} ·{" "}
        {/* last and in one piece: it changes while one looks */}
        <span class={`state ${run.state}`}>
          {`${run.state}, ${run.iterations} iterations in ${duration(run.seconds)}`}
        </span>
      </p>
      <p class="tabs">
        <a href={`/runs/${encodeURIComponent(run.id)}/episodes`}>Episodes</a>{" "}
        <a href={`/runs/${encodeURIComponent(run.id)}/tasks`}>Tasks</a>
      </p>
      <Trouble run={run} />
      <Headline run={run} />
      <Health run={run} />
      <CurvesOf run={run} path={path} />
      <Evaluations run={run} />
      <details>
        <summary>Settings</summary>
        <pre class="boxed">{JSON.stringify(run.config, null, 2)}</pre>
        <p class="faint">{run.folder}</p>
      </details>
    </>
  );
});
