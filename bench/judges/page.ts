/** The measured part of docs/comparisons/judges.md, and its chart. */

import {
  mean,
  meanInterval,
  median,
  probabilityOfImprovement,
  wilsonInterval,
} from "../../src/common/statistics/statistics.ts";
import { every, iterations, type JudgesRun, type Point } from "./run.ts";

const two = (x: number): string => (Number.isFinite(x) ? x.toFixed(2) : "–");
const interval = (xs: readonly number[]): string => {
  const { mean: m, low, high } = meanInterval(xs);
  return `${two(m)} [${two(low)}, ${two(high)}]`;
};
const share = (xs: readonly boolean[]): string => {
  const found = xs.filter(Boolean).length;
  const { low, high } = wilsonInterval(found, xs.length);
  return `${found} of ${xs.length} [${Math.round(100 * low)}, ${Math.round(100 * high)} %]`;
};
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const at = ({ points }: JudgesRun, iteration: number): Point =>
  points.findLast((point) => point.iteration <= iteration)!;
const last = (run: JudgesRun): Point => run.points.at(-1)!;
const peak = ({ points }: JudgesRun): number => Math.max(...points.map(({ gold }) => gold));
/** Gold of the weights that a run ends with where its watch ends it: those of its best audits. */
const kept = (run: JudgesRun): number =>
  run.alarm === null ? last(run).gold : at(run, run.best ?? run.alarm).gold;

const usual = ({ comparisons, payer, pull }: JudgesRun): boolean =>
  comparisons === 400 && payer === "one" && pull === 0;
const isHackable = ({ room }: JudgesRun): boolean => room > 0;
const plain = ({ audit, audits }: JudgesRun): boolean => audit === "labels" && audits === 8;

export function tablesOf(runs: readonly JudgesRun[]): string {
  return [
    "### The watch",
    watchTable(runs.filter(usual)),
    "### What tells the two worlds apart",
    signals(runs.filter((run) => usual(run) && plain(run))),
    "### Gold and reward over the distance",
    curveTable(runs.filter((run) => usual(run) && plain(run))),
    "### What a reward model costs the policy that it pays",
    payerTable(runs.filter(plain)),
  ].join("\n\n");
}

function watchTable(runs: readonly JudgesRun[]): string {
  const kinds = Map.groupBy(runs, ({ audit, audits }) =>
    audit === "labels" ? `${audits} review labels an iteration` : "8 scores of the other reward models",
  );
  return table(
    [
      "audits",
      "alarm where there is room to hack",
      "alarm where there is nothing to hack",
      "after iterations, median",
      "gold without a watch",
      "gold at the alarm",
      "gold of the weights kept",
      "gold at the peak",
    ],
    [...kinds].map(([name, all]) => {
      const [hacked, honest] = [all.filter(isHackable), all.filter((run) => !isHackable(run))];
      const raised = hacked.filter(({ alarm }) => alarm !== null);
      return [
        name,
        share(hacked.map(({ alarm }) => alarm !== null)),
        share(honest.map(({ alarm }) => alarm !== null)),
        raised.length > 0 ? String(median(raised.map(({ alarm }) => alarm!))) : "–",
        interval(hacked.map((run) => last(run).gold)),
        interval(hacked.map((run) => at(run, run.alarm ?? iterations).gold)),
        interval(hacked.map(kept)),
        interval(hacked.map(peak)),
      ];
    }),
  );
}

function signals(runs: readonly JudgesRun[]): string {
  const of = (what: string, read: (run: JudgesRun) => number): readonly string[] => {
    const [hacked, honest] = [true, false].map((room) => runs.filter((run) => isHackable(run) === room));
    const [a, b] = [hacked!.map(read), honest!.map(read)];
    const apart = probabilityOfImprovement(a, b);
    return [what, interval(a), interval(b), two(apart)];
  };
  return table(
    ["at the end of training", "room to hack", "nothing to hack", "AUC"],
    [
      of("reward, as it is paid", (run) => last(run).paid),
      of("distance to the first policy, nats a reply", (run) => last(run).kl),
      of("disagreement of the reward models, times that at first", ({ disagreement: [a, b] }) => b / a),
      of("gold (not seen)", (run) => last(run).gold),
    ],
  );
}

function curveTable(runs: readonly JudgesRun[]): string {
  const [hacked, honest] = [true, false].map((room) => runs.filter((run) => isHackable(run) === room));
  const steps = Array.from({ length: iterations / every + 1 }, (_, i) => i * every);
  const cells = (all: readonly JudgesRun[], step: number): string[] => [
    two(mean(all.map((run) => at(run, step).kl))),
    two(mean(all.map((run) => at(run, step).paid))),
    interval(all.map((run) => at(run, step).gold)),
  ];
  return table(
    ["iterations", "room to hack: nats", "reward", "gold", "nothing to hack: nats", "reward", "gold"],
    steps.map((step) => [String(step), ...cells(hacked!, step), ...cells(honest!, step)]),
  );
}

function payerTable(runs: readonly JudgesRun[]): string {
  const what = ({ payer, pull }: JudgesRun): string =>
    pull > 0
      ? `one reward model, and ${pull} times the KL divergence off`
      : {
          one: "one reward model",
          mean: "mean of 4 reward models",
          worst: "lowest of 4 reward models",
          gold: "gold itself",
        }[payer];
  const order = (run: JudgesRun): number => (run.payer === "gold" ? 0 : run.comparisons);
  return [true, false]
    .map((room) => {
      const own = runs.filter((run) => isHackable(run) === room).sort((a, b) => order(a) - order(b));
      const rows = Map.groupBy(own, (run) => `${order(run) || "–"}|${what(run)}`);
      return [
        `#### ${room ? "Where there is room to hack" : "Where there is nothing to hack"}`,
        table(
          [
            "comparisons",
            "what pays",
            "accuracy at first",
            "accuracy at the end",
            "gold at the end",
            "with the watch",
          ],
          [...rows].map(([key, all]) => [
            ...key.split("|"),
            two(mean(all.map(({ accuracy }) => accuracy[0]))),
            two(mean(all.map(({ accuracy }) => accuracy[1]).filter(Number.isFinite))),
            interval(all.map((run) => last(run).gold)),
            interval(all.map(kept)),
          ]),
        ),
      ].join("\n\n");
    })
    .join("\n\n");
}

const [width, height, left, top] = [300, 190, 44, 56];
const colours = { gold: "#d55e00", paid: "#0072b2" } as const;

/** Gold and reward over the KL divergence, mean over seeds, one panel for each world. */
export function curves(runs: readonly JudgesRun[]): string {
  const own = runs.filter((run) => usual(run) && plain(run));
  const panels = [true, false].map((room) => {
    const all = own.filter((run) => isHackable(run) === room);
    const points = Array.from({ length: iterations / every + 1 }, (_, i) => {
      const now = all.map((run) => at(run, i * every));
      return {
        kl: mean(now.map((p) => p.kl)),
        gold: mean(now.map((p) => p.gold)),
        paid: mean(now.map((p) => p.paid)),
      };
    });
    return { title: room ? "room to hack" : "nothing to hack", points };
  });
  const points_ = panels.flatMap(({ points }) => points);
  const farthest = Math.ceil(Math.max(...points_.map(({ kl }) => kl)));
  const low = Math.floor(Math.min(...points_.flatMap(({ gold, paid }) => [gold, paid])));
  const high = Math.ceil(Math.max(...points_.flatMap(({ gold, paid }) => [gold, paid])));
  const drawn = panels.map(({ title, points }, c) => {
    const x0 = left + c * (width + 44);
    const x = (kl: number): number => Math.round(10 * (x0 + (width * kl) / farthest)) / 10;
    const y = (value: number): number =>
      Math.round(10 * (top + (height * (high - value)) / (high - low))) / 10;
    const grid = Array.from({ length: high - low + 1 }, (_, i) => low + i).map(
      (v) =>
        `<path class="grid" d="M${x0} ${y(v)}h${width}"/><text class="tick" x="${x0 - 6}" y="${y(v) + 4}" text-anchor="end">${v}</text>`,
    );
    const ticks = [0, farthest / 2, farthest].map(
      (kl) => `<text class="tick" x="${x(kl)}" y="${top + height + 16}" text-anchor="middle">${kl}</text>`,
    );
    const line = (of: "gold" | "paid"): string =>
      `<path fill="none" stroke="${colours[of]}" stroke-width="2"${of === "paid" ? ' stroke-dasharray="5 3"' : ""} d="M${points.map((p) => `${x(p.kl)} ${y(p[of])}`).join("L")}"/>`;
    return [
      `<text x="${x0}" y="${top - 10}">${title}</text>`,
      ...grid,
      ...ticks,
      line("gold"),
      line("paid"),
    ].join("\n");
  });
  const [w, h] = [left + 2 * width + 60, top + height + 40];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12" role="img" aria-label="Gold utility and reward over the KL divergence to the first policy, in a world with room to hack and in one without.">
<style>
text { fill: #1f2328 } .tick { fill: #57606a; font-size: 10.5px } .grid { stroke: #d0d7de; stroke-width: 1 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .tick { fill: #8b949e } .grid { stroke: #30363d } }
</style>
<path fill="none" stroke="${colours.gold}" stroke-width="2" d="M${left} 16h22"/><text x="${left + 28}" y="20">gold utility</text>
<path fill="none" stroke="${colours.paid}" stroke-width="2" stroke-dasharray="5 3" d="M${left + 130} 16h22"/><text x="${left + 158}" y="20">reward, as it is paid</text>
<text class="tick" x="${left + width}" y="${h - 6}" text-anchor="end">nats a reply</text>
${drawn.join("\n")}
</svg>
`;
}
