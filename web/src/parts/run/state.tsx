/** How a run ended where it did not end well: why, what is there, and how it goes on. */
import type { RunDetail } from "../../../../src/serve/dashboard/types.ts";

/** Milliseconds without a word after which a run that is said to be running may be dead. */
const silent = 600_000;

export function Trouble({ run }: { readonly run: RunDetail }) {
  const said = troubleOf(run);
  if (!said) return null;
  const { title, why, tone } = said;
  return (
    <section class={`card trouble ${tone}`} role="alert">
      <h2>{title}</h2>
      {why !== undefined && <p class="words">{why}</p>}
      <p>
        {run.iterations === 0 ? (
          "No iteration was finished. "
        ) : (
          <>
            {run.iterations} {run.iterations === 1 ? "iteration was" : "iterations were"} kept:{" "}
            <a href={`/runs/${encodeURIComponent(run.id)}/episodes?from=${run.iterations - 1}`}>
              episodes of the last one
            </a>
            .{" "}
          </>
        )}
        It goes on from its last checkpoint with <code>npx whetstone train --out {run.folder} --resume</code>
      </p>
    </section>
  );
}

function troubleOf(
  run: RunDetail,
): { readonly title: string; readonly why?: string; readonly tone: "failed" | "interrupted" } | undefined {
  switch (run.state) {
    case "failed":
      return {
        title: "The run failed",
        tone: "failed",
        ...(run.error !== undefined && { why: run.error }),
      };
    case "interrupted":
      return { title: "The run was interrupted", tone: "interrupted" };
    case "running": {
      const quiet = Date.now() - Date.parse(run.seen);
      if (quiet < silent) return undefined;
      const minutes = Math.round(quiet / 60_000);
      return {
        title: `Nothing has been written for ${minutes} minutes`,
        why: "Its process may have been killed, or one iteration takes this long.",
        tone: "interrupted",
      };
    }
    case "done":
      return undefined;
  }
}
