/** What a run shows while it goes: one live block on a terminal, plain lines elsewhere. */

import { counted } from "../common/text/counted.ts";
import { gibibytes } from "../common/text/gibibytes.ts";
import type { RunEvent } from "../train/events.ts";
import { sparkline } from "./chart.ts";
import { estimateLine } from "./estimateLine.ts";
import { duration, folded, type Io, interval, number, paint, percent } from "./output.ts";

export interface View {
  show(event: RunEvent): void;
  /** Lets something else write lines, which stay above the live block: drawn over it, they would be gone with the next event. */
  above(write: () => void): void;
  /** Ends the live block; what it showed last stays. */
  close(): void;
}

type Progress = Extract<RunEvent, { type: "iteration" }>;

/** What the block is drawn from. */
interface Shown {
  title: string;
  readonly lines: string[];
  readonly curve: number[];
  last?: Progress;
  warm?: Extract<RunEvent, { type: "warmstart" }>;
  note: string;
}

/** Events that leave a line above the live block. */
const lasting: ReadonlySet<RunEvent["type"]> = new Set([
  "start",
  "evaluation",
  "estimate",
  "no-estimate",
  "warning",
  "interrupted",
]);

/** @param screen what the live block is drawn on. */
export async function createView(
  io: Io,
  screen: NodeJS.WritableStream & { readonly columns?: number } = process.stdout,
): Promise<View> {
  const lines = { above: (write: () => void): void => write(), close: () => {} };
  if (io.json) return { ...lines, show: (event) => showUnderJson(event, io) };
  // without a width nothing can be drawn over
  if (!io.terminal || !screen.columns)
    return { ...lines, show: (event) => lineOf(event).forEach((l) => void io.say(l)) };

  const { createLogUpdate } = await import("log-update");
  const update = createLogUpdate(screen);
  const shown: Shown = { title: "", lines: [], curve: [], note: "" };
  let drawn = 0;
  let closed = false;
  return {
    show: (event) => {
      absorb(shown, event);
      if (lasting.has(event.type)) {
        update.clear();
        io.say(...lineOf(event).flatMap((line) => folded(io, line)));
      }
      // a fast run must not spend its time on drawing
      const now = Date.now();
      if (event.type !== "iteration" || now - drawn > 80 || event.iteration === event.iterations) {
        drawn = now;
        update(block(shown, io).join("\n"));
      }
    },
    above: (write) => {
      const below = drawn > 0 && !closed;
      if (below) update.clear();
      write();
      if (below) update(block(shown, io).join("\n"));
    },
    close: () => {
      if (!closed) update.done();
      closed = true;
    },
  };
}

/** JSON lines are written as they come; people who watch stderr still want to read what went wrong. */
function showUnderJson(event: RunEvent, io: Io): void {
  io.record(event);
  if (event.type === "warning" || event.type === "interrupted") io.say(...lineOf(event));
}

function absorb(shown: Shown, event: RunEvent): void {
  switch (event.type) {
    case "start":
      shown.title = `${event.env} · ${event.method} · ${event.engine} · seed ${event.seed}`;
      return;
    case "warmstart":
      shown.warm = event;
      shown.curve.push(event.loss);
      return;
    case "iteration":
      if (shown.last === undefined) shown.curve.length = 0;
      shown.last = event;
      shown.curve.push(played(event) ? event.success : lossOf(event));
      shown.note = "";
      return;
    case "checkpoint":
      shown.note = event.best
        ? `best so far: iteration ${event.iteration}`
        : `saved iteration ${event.iteration}`;
      return;
    default:
  }
}

/** @returns the lines of the live block. */
function block(shown: Shown, io: Io): string[] {
  const width = Math.min(io.width, 100);
  const { last, warm } = shown;
  const small = sparkline(shown.curve, Math.min(40, width - 30));
  if (last === undefined) {
    if (warm === undefined) return [paint(io, "dim", "preparing …")];
    const held = warm.validation === undefined ? "" : ` · held-out ${number(warm.validation)}`;
    return [
      `warm start · update ${warm.update} · loss ${number(warm.loss)}${held} · ${number(Math.round(warm.tokensPerSecond))} tokens/s`,
      `loss ${paint(io, "yellow", small)}`,
    ];
  }
  const share = last.iteration / Math.max(1, last.iterations);
  const cells = Math.max(10, Math.min(30, width - 50));
  const full = Math.round(share * cells);
  const bar = paint(io, "green", "━".repeat(full)) + paint(io, "dim", "━".repeat(cells - full));
  return [
    `${bar} ${last.iteration}/${last.iterations} · ${duration(last.secondsLeft)} left`,
    broughtBy(last).join(" · "),
    `${played(last) ? "success" : "loss"} ${paint(io, "cyan", small)}${shown.note === "" ? "" : paint(io, "dim", `  ${shown.note}`)}`,
  ];
}

/** Examples are learnt from without playing; episodes that failed were played. */
const played = ({ success, metrics }: Progress): boolean => !Number.isNaN(success) || metrics.failed !== 0;

/** Of the first objective that tells one. */
const lossOf = ({ metrics }: Progress): number =>
  Object.entries(metrics).find(([name]) => name.endsWith(".loss"))?.[1] ?? Number.NaN;

const broughtBy = (event: Progress): string[] =>
  played(event)
    ? [
        `success ${percent(event.success)}`,
        `reward ${number(event.reward)}`,
        `${number(event.turns)} turns`,
        `${Math.round(event.tokensPerSecond)} tokens/s`,
      ]
    : [`loss ${number(lossOf(event))}`];

/** Tables begin empty and grow, and who only talks has none: there is nothing to say of those. */
function sizeOf(parameters: number | null): string {
  if (parameters === null) return ", an adapter whose size only the server knows";
  return parameters === 0 ? "" : `, ${parameters.toLocaleString("en")} parameters`;
}

/** Plain lines for a log. */
export function lineOf(event: RunEvent): string[] {
  switch (event.type) {
    case "start":
      return [
        `${event.run}: ${event.method} on ${event.env}, ${event.engine} engine${sizeOf(event.parameters)}${event.memory === undefined ? "" : `, training takes up to ${gibibytes(event.memory)} of the GPU's memory`}, seed ${event.seed}${event.resumed === undefined ? "" : `, resumed at iteration ${event.resumed}`}`,
      ];
    case "warmstart":
      return event.validation === undefined
        ? []
        : [
            `warm start ${event.update}: loss ${number(event.loss)}, held-out ${number(event.validation)}, ${Math.round(event.tokensPerSecond)} tokens/s`,
          ];
    case "evaluation":
      return [
        `${event.when === "during" ? `after ${event.iteration} iterations` : event.when}: ${event.split}, ${event.mode}: success ${interval(event.success)}, reward ${number(event.reward)}, ${number(event.turns)} turns, ${counted(event.success.n, "task")}${event.failed > 0 ? `, ${event.failed} failed episodes left out` : ""}`,
      ];
    case "iteration":
      return [
        `iteration ${event.iteration}/${event.iterations}: ${[...broughtBy(event), `${duration(event.secondsLeft)} left`].join(", ")}`,
      ];
    case "estimate":
      return [estimateLine(event)];
    case "no-estimate":
      return [`no estimate: ${event.why}`];
    case "checkpoint":
      return event.best ? [`best so far: iteration ${event.iteration}`] : [];
    case "warning":
      return [`warning: ${event.message}`];
    case "done":
      return [];
    case "interrupted":
      return [
        `interrupted after ${counted(event.iteration, "iteration")} and saved in ${event.out}; continue with --resume`,
      ];
  }
}
