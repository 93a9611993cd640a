/** Every evaluation of a run; those made on the way are folded. */

import type { RunDetail } from "../../../../src/serve/dashboard/types.ts";
import type { Evaluation } from "../../../../src/store/runStore.ts";
import { type Column, Table } from "../table.tsx";
import { digits, percent } from "../words.ts";

const columns: readonly Column<Evaluation>[] = [
  { name: "When", cell: (e) => (e.when === "during" ? `after ${e.iteration}` : e.when) },
  {
    name: "Split",
    cell: (e) => (
      <>
        {e.split}
        {e.trainedShare > 0 && <span class="bad"> {trainedWords(e.trainedShare)}</span>}
      </>
    ),
    value: (e) => e.split,
  },
  { name: "Actions", cell: (e) => e.mode },
  { name: "Success", cell: (e) => percent(e.success.mean), value: (e) => e.success.mean },
  {
    name: "95 % interval",
    cell: (e) => `${percent(e.success.low)} to ${percent(e.success.high)}`,
    value: (e) => `${e.success.low} to ${e.success.high}`,
  },
  { name: "Reward", cell: (e) => digits(e.reward), value: (e) => e.reward },
  { name: "Turns", cell: (e) => digits(e.turns), value: (e) => e.turns },
  { name: "Tasks", cell: (e) => e.tasks },
];

const keyOf = (e: Evaluation): string => `${e.when} ${e.iteration} ${e.split} ${e.mode}`;

export function Evaluations({ run }: { readonly run: RunDetail }) {
  if (run.evaluations.length === 0) return null;
  const [during, ends] = [
    run.evaluations.filter(({ when }) => when === "during"),
    run.evaluations.filter(({ when }) => when !== "during"),
  ];
  return (
    <section aria-label="Evaluations">
      <h2>Evaluations</h2>
      {ends.length > 0 && (
        <Table
          label="Before and after the run"
          columns={columns}
          rows={ends}
          keyOf={keyOf}
          file={`${run.name} before and after`}
        />
      )}
      {during.length > 0 && (
        <details>
          <summary>
            {during.length} {during.length === 1 ? "validation" : "validations"} during the run
          </summary>
          <Table
            label="Validations during the run"
            columns={columns}
            rows={during}
            keyOf={keyOf}
            file={`${run.name} validations`}
          />
        </details>
      )}
    </section>
  );
}

const trainedWords = (share: number): string => (share === 1 ? "trained on" : `${percent(share)} trained on`);
