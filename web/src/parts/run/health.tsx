/** What the health checks found in a run, what to do about it, and everything that was looked at. */
import type { HealthFinding } from "../../../../src/diagnose/health/measurements.ts";
import type { RunDetail } from "../../../../src/serve/dashboard/types.ts";

export function Health({ run }: { readonly run: RunDetail }) {
  const { checks, findings } = run.health;
  const kept = run.state === "running" ? " kept" : "";
  if (run.iterations === 0 && findings.length === 0) {
    return <p class={`card health none${kept}`}>Health checks begin with the first iteration.</p>;
  }
  const by = (wanted: string) => checks.filter(({ state }) => state === wanted);
  const [passed, unmeasured] = [by("passed"), by("not measured")];
  const problems = `${findings.length} ${findings.length === 1 ? "problem" : "problems"}`;
  const verdict =
    findings.length === 0 ? `No problems found in ${passed.length} checks` : `${problems} found`;
  const state = `card health${findings.length === 0 ? " none" : ""}${kept}`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys, too
    <section class={state} aria-label="Health" tabIndex={0}>
      <h2>
        Health <span class={findings.length === 0 ? "good" : "warn"}>{verdict}</span>
      </h2>
      <ul class="findings">
        {findings.map((f) => (
          <Found key={`${f.check} ${f.problem}`} finding={f} run={run.id} />
        ))}
      </ul>
      <details class="all-checks">
        <summary>
          {passed.length} passed, {checks.length - passed.length - unmeasured.length} found something,{" "}
          {unmeasured.length} not measured
        </summary>
        <ul class="checks">
          {checks.map(({ check, title, state }) => (
            <li key={check} class={state === "found" ? "found" : "faint"}>
              {title}: {state === "found" ? "see above" : state}
            </li>
          ))}
        </ul>
        {unmeasured.length > 0 && (
          <p class="faint">“not measured”: this run has nothing that the check looks at.</p>
        )}
      </details>
    </section>
  );
}

function Found({ finding: f, run }: { readonly finding: HealthFinding; readonly run: string }) {
  const there = f.episodes !== undefined && f.from !== undefined && f.until !== undefined;
  return (
    <li class={f.severity}>
      <strong>{f.problem}</strong> {f.fix}{" "}
      {f.next && (
        <>
          <code>npx {f.next}</code>{" "}
        </>
      )}
      {there && (
        <a
          href={`/runs/${encodeURIComponent(run)}/episodes?from=${f.from}&until=${f.until}${f.episodes === "all" ? "" : `&outcome=${f.episodes}`}`}
        >
          Episodes of iterations {f.from} to {(f.until ?? 0) - 1}
        </a>
      )}
    </li>
  );
}
