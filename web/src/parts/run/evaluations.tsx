/** Every evaluation of a run; those made on the way are folded. */

import type { RunDetail } from "../../../../src/serve/dashboard/types.ts";
import type { Evaluation } from "../../../../src/store/runStore.ts";
import { digits, percent } from "../words.ts";

const columns = ["When", "Split", "Actions", "Success", "95 % interval", "Reward", "Turns", "Tasks"];

export function Evaluations({ run }: { readonly run: RunDetail }) {
  if (run.evaluations.length === 0) return null;
  const [during, ends] = [
    run.evaluations.filter(({ when }) => when === "during"),
    run.evaluations.filter(({ when }) => when !== "during"),
  ];
  return (
    <section aria-label="Evaluations">
      <h2>Evaluations</h2>
      {ends.length > 0 && <Table of={ends} caption="Before and after the run" />}
      {during.length > 0 && (
        <details>
          <summary>
            {during.length} {during.length === 1 ? "validation" : "validations"} during the run
          </summary>
          <Table of={during} caption="Validations during the run" />
        </details>
      )}
    </section>
  );
}

const trainedWords = (share: number): string => (share === 1 ? "trained on" : `${percent(share)} trained on`);

function Table({ of, caption }: { readonly of: readonly Evaluation[]; readonly caption: string }) {
  return (
    <div class="wide">
      <table class="stacked" aria-label={caption}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((e) => (
            <tr key={`${e.when} ${e.iteration} ${e.split} ${e.mode}`}>
              <th scope="row">{e.when === "during" ? `after ${e.iteration}` : e.when}</th>
              <td data-label="Split">
                {e.split}
                {e.trainedShare > 0 && <span class="bad"> {trainedWords(e.trainedShare)}</span>}
              </td>
              <td data-label="Actions">{e.mode}</td>
              <td data-label="Success">{percent(e.success.mean)}</td>
              <td data-label="95 % interval">
                {percent(e.success.low)} to {percent(e.success.high)}
              </td>
              <td data-label="Reward">{digits(e.reward)}</td>
              <td data-label="Turns">{digits(e.turns)}</td>
              <td data-label="Tasks">{e.tasks}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
