/** What changed between two versions of an artefact, part by part and line by line. */
import type { FoldedChange } from "../../../src/serve/dashboard/types.ts";
import { Long } from "./long.tsx";
import { Many } from "./many.tsx";
import { digits } from "./words.ts";

interface DifferenceProps {
  readonly parts: readonly FoldedChange[];
  /** Parts that are the same in both. */
  readonly same: number;
}

export function Difference({ parts, same }: DifferenceProps) {
  return (
    <>
      <Many items={parts} what="parts" first={50}>
        {(change, i) => (
          <section
            class="change"
            key={`${i} ${change.title}`}
            aria-label={`${change.title}: ${words[change.kind]}`}
          >
            <h3>
              {change.title} <span class={tones[change.kind]}>{words[change.kind]}</span>{" "}
              {change.kind !== "added" && change.score && (
                <span class="faint">worth {sayScore(change.score)}</span>
              )}
            </h3>
            {change.lines.length > 0 && <Lines of={change} />}
          </section>
        )}
      </Many>
      {parts.length === 0 && <p>Nothing that is told has changed.</p>}
      {same > 0 && (
        <p class="faint">
          {same} {same === 1 ? "part is" : "parts are"} the same.
        </p>
      )}
    </>
  );
}

const words = { added: "added", removed: "removed", changed: "changed", scored: "scored anew" } as const;
const tones = { added: "good", removed: "bad", changed: "", scored: "" } as const;

const sayScore = ({ before, after }: NonNullable<FoldedChange["score"]>): string =>
  [before, after].map((score) => (score === undefined ? "nothing" : digits(score))).join(" → ");

function Lines({ of: { lines } }: { readonly of: FoldedChange }) {
  return (
    <div class="lines">
      <Many items={lines} what="lines" first={200}>
        {(line, i) =>
          line.kind === "left out" ? (
            <div class="faint" key={`${i} left out`}>
              … {line.lines} {line.lines === 1 ? "line" : "lines"} as before
            </div>
          ) : (
            <Line key={`${i} ${line.kind}`} kind={line.kind} text={line.text} />
          )
        }
      </Many>
    </div>
  );
}

/** What goes and what comes is told apart by its mark and its name, not by its colour alone. */
function Line({ kind, text }: { readonly kind: "same" | "added" | "removed"; readonly text: string }) {
  const Change = kind === "added" ? "ins" : kind === "removed" ? "del" : "div";
  return (
    <Change>
      <span aria-hidden="true">{marks[kind]} </span>
      <bdi>
        <Long text={text} first={2000} />
      </bdi>
    </Change>
  );
}

const marks = { same: " ", added: "+", removed: "−" } as const;
