/** `whetstone explain`: one method, with everything that is known about it. */
import type { Command } from "commander";
import { type CatalogueEntry, commandFor, needsOf, slotsOf } from "../method/entry.ts";
import type { Recipe } from "../method/method.ts";
import { rangeOf } from "../method/options.ts";
import { settingRows } from "../method/settings.ts";
import { benchResultsOf, benchSentences } from "../methods/benchResults.ts";
import { findEntry } from "../methods/catalogue.ts";
import { readEvidence, type StoredEvidence } from "../methods/evidence.ts";
import { caveatsOf, conditionsOf, interval, opponentsOf } from "../methods/opponents.ts";
import type { Check } from "../train/check.ts";
import { checkFiles, designIn } from "./checkFiles.ts";
import { addCommand, duration, folded, type Io, number, paint } from "./output.ts";

export function addExplain(program: Command, io: Io): void {
  addCommand(program, "explain", "Show a method: mechanism, mathematics, composition, evidence.", [
    "whetstone explain grpo",
    "whetstone explain igpo --json",
  ])
    .argument("<id>", "a method (see whetstone methods)")
    .action(async (id: string) => {
      const m = findEntry(id);
      const evidence = readEvidence(m.id);
      const benches = benchResultsOf(m.id);
      io.record({ ...about(m), evidence: evidence ?? null, benches, command: command(m) });
      const title = (text: string): string => paint(io, "bold", text);
      const family = `family ${m.family}${m.paper ? `; paper: ${m.paper}` : ""}`;
      io.say(title(`${m.id}: ${m.summary}`), ...folded(io, family));
      if (m.mechanism) io.say("", title("Mechanism"), ...wrapped(m.mechanism, io.width));
      if (m.equation) io.say("", title("Mathematics"), ...m.equation.split("\n").map((line) => `  ${line}`));
      io.say("", title("Composition"), ...composition(m));
      const options = m.kind === "method" ? optionLines(m, io.width) : [];
      if (options.length > 0) io.say("", title("Options of its own (--set name=value)"), ...options);
      if (m.source) io.say("", title("Where its constants come from"), ...wrapped(m.source, io.width));
      io.say("", title("Evidence"), ...evidenceLines(m, evidence, await checkOf(m.id), io.width));
      const outside = benchSentences(evidence, benches);
      if (outside.length > 0)
        io.say("", title("Benches and arenas"), ...outside.flatMap((said) => wrapped(said, io.width)));
      io.say("", title("Try it"), `  ${command(m)}`);
    });
}

function about(m: CatalogueEntry): Readonly<Record<string, unknown>> {
  const { id, kind, family, summary, paper, mechanism, equation, source } = m;
  const known = { id, kind, family, summary, paper, mechanism, equation, source };
  const own = m.kind === "method" ? { defaults: m.defaults, options: m.options } : { law: m.law };
  return { ...known, needs: needsOf(m), slots: slotsOf(m), ...own };
}

const command = (m: CatalogueEntry): string => `whetstone ${commandFor(m)}`;

function composition(m: CatalogueEntry): string[] {
  if (m.kind !== "method") {
    const does = m.kind === "benchmark" ? `measures agents (suite ${m.suite})` : "tests a law";
    return [`  none: a ${m.kind} ${does} and trains nothing`, `  law: ${m.law}`];
  }
  const { slots } = m.build();
  const names = (pieces: readonly { readonly name: string }[]): string =>
    pieces.map((p) => p.name).join(", ");
  const lines = m.differs.map((slot) => {
    const pieces = slots[slot];
    const named = (Array.isArray(pieces) ? pieces : [pieces]).filter(
      (p): p is { readonly name: string } => typeof p === "object" && p !== null && "name" in p,
    );
    return `  ${slot.padEnd(10)} ${named.length > 0 ? names(named) : "its own"}`;
  });
  const changed = Object.entries(m.defaults).filter(
    ([name, value]) => settingRows[name as keyof typeof settingRows].default !== value,
  );
  return [
    ...(lines.length > 0 ? lines : ["  the baseline itself: every slot as in GRPO"]),
    ...(lines.length > 0 ? ["  the rest   as in GRPO"] : []),
    ...(changed.length > 0 ? [`  settings   ${changed.map(([n, v]) => `${n} ${v}`).join(", ")}`] : []),
    `  needs      ${m.needs.join(", ")}`,
  ];
}

const optionLines = ({ options }: Recipe, width: number): string[] =>
  Object.entries(options).flatMap(([name, option]) =>
    wrapped(`${name} ${option.default}: ${option.help}; ${rangeOf(option)}`, width),
  );

/** A method's check; none in an installed package. */
async function checkOf(id: string): Promise<Check | undefined> {
  const file = checkFiles().find((one) => one.id === id);
  return file && designIn(file.file);
}

function evidenceLines(
  m: CatalogueEntry,
  e: StoredEvidence | undefined,
  check: Check | undefined,
  width: number,
): string[] {
  if (!e) {
    const has = checkFiles().some((f) => f.id === m.id);
    return [
      has ? `  not run yet: whetstone check ${m.id}` : "  none: other methods are measured against baselines",
    ];
  }
  const sign = (x: number): string => `${x > 0 ? "+" : ""}${number(x)}`;
  const mean = (values: readonly number[]): string =>
    number(values.reduce((a, b) => a + b, 0) / values.length);
  const arm = (a: StoredEvidence["method"]): string =>
    `  ${mean(a.values).padStart(8)}  ${a.what} (${JSON.stringify(a.chosen)})`;
  return [
    ...wrapped(`${e.verdict}: ${e.claim}`, width),
    `  ${e.metric}, ${e.direction} is better; difference ${sign(e.effect)} [${sign(e.interval.low)}, ${sign(e.interval.high)}], ${e.seeds.length} seeds, attempt ${e.attempts}, ${duration(e.seconds)}`,
    arm(e.baseline),
    arm(e.method),
    ...Object.values(e.others ?? {}).map(arm),
    `  level ${e.level}; ${ingredientLine(e)}`,
    ...conditionsOf(e, check).flatMap((said) => wrapped(said, width)),
    ...caveatsOf(e, check).flatMap((caveat) => wrapped(caveat, width)),
    ...(e.notes ? wrapped(e.notes, width) : []),
    `  run it again: whetstone check ${m.id}`,
  ];
}

function ingredientLine(e: StoredEvidence): string {
  const { ingredient, simpler } = opponentsOf(e);
  if (!simpler) return "no ablation of its ingredient was run";
  return `its ingredient: ${ingredient}; ahead of "${simpler.what}" by ${interval(simpler.lead)}`;
}

/** Lines of at most so many columns, indented by two. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = " ";
  for (const word of text.split(/\s+/)) {
    if (line.length + word.length + 1 > Math.min(width, 110) && line !== " ") {
      lines.push(line);
      line = " ";
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
