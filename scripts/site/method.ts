/** The page of one method: mechanism, mathematics, composition, evidence and source. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkFiles, designIn } from "../../src/cli/checkFiles.ts";
import { number } from "../../src/cli/output.ts";
import { type CatalogueEntry, commandFor, needsOf, slotsOf } from "../../src/method/entry.ts";
import { rangeOf } from "../../src/method/options.ts";
import { settingRows } from "../../src/method/settings.ts";
import { benchResultsOf, benchSentences } from "../../src/methods/benchResults.ts";
import { catalogue } from "../../src/methods/catalogue.ts";
import { readEvidence, type StoredEvidence } from "../../src/methods/evidence.ts";
import { caveatsOf, conditionsOf, interval, opponentsOf } from "../../src/methods/opponents.ts";
import { equationParts, type Part } from "../../web/src/parts/equationParts.ts";
import { address, outsideCode } from "./staged.ts";

const root = join(import.meta.dirname, "../..");

export async function methodPage(m: CatalogueEntry): Promise<string> {
  const e = readEvidence(m.id);
  const file = `src/methods/${m.family}/${m.id}/method.ts`;
  const check = checkFiles().find(({ id }) => id === m.id);
  const design = check && (await designIn(check.file));
  const said = [
    ...(e ? [...conditionsOf(e, design), ...caveatsOf(e, design), ...(e.notes ? [e.notes] : [])] : []).map(
      prose,
    ),
    ...benchSentences(e, benchResultsOf(m.id), (page, text) => `[${text}](${address(page)})`),
  ];
  return [
    head(m.id, m.summary),
    `# ${m.id}`,
    "",
    sentence(m.summary),
    "",
    `Family [${m.family}](/catalogue.md#${m.family})${m.paper ? `. Paper: *${prose(m.paper)}*` : ""}.`,
    ...section("Mechanism", m.mechanism && prose(m.mechanism)),
    ...section("Mathematics", m.equation && equation(m.equation)),
    ...section("Composition", composition(m)),
    ...section("Where its constants come from", m.source && prose(m.source)),
    ...section("Evidence", e ? evidence(e) : "No check has run."),
    "",
    ...said.map((line) => `- ${line}`),
    ...section("Try it", `\`\`\`bash\nnpx whetstone ${commandFor(m)}\n\`\`\``),
    ...section("Source", `\`${file}\`\n\n\`\`\`ts\n${readFileSync(join(root, file), "utf8")}\`\`\``),
    "",
  ].join("\n");
}

/** All methods by family, each with what it does, its verdict and its mathematics. */
export function cataloguePage(): string {
  const families = [...new Set(catalogue.map((m) => m.family))];
  const entry = (m: CatalogueEntry): string => {
    const slots = slotsOf(m);
    const facts = [
      readEvidence(m.id)?.verdict ?? "not run",
      slots.length > 0 ? `differs in ${slots.join(", ")}` : m.kind === "method" ? "the baseline" : m.kind,
    ];
    const formula = m.equation
      ? `<details><summary>Mathematics</summary>\n\n${equation(m.equation)}\n\n</details>`
      : "";
    return `### [${m.id}](/methods/${m.id}.md)\n\n${sentence(m.summary)}\n\n<p class="facts">${facts.map(escaped).join(" · ")}</p>\n\n${formula}\n`;
  };
  return [
    head("Catalogue of methods", "Every method by family, with its mathematics and its verdict", "[2, 2]"),
    "# Catalogue of methods",
    "",
    `${catalogue.length} entries. Each states what it changes against GRPO, its formulas, and the verdict of the small experiment`,
    "that was committed before it was run; [Methods and their evidence](/methods.md) says how to read a verdict, and the",
    "[leaderboard](/leaderboard.md) what the same transformer gains with each. Ask in your own words, here or by",
    '`npx whetstone methods "credit for single turns"`:',
    "",
    "<FindMethod />",
    ...families.flatMap((family) => [
      "",
      `## ${family}`,
      "",
      ...catalogue.filter((m) => m.family === family).map(entry),
    ]),
  ].join("\n");
}

/** Plain text, in which no sign is Markdown. */
const prose = (text: string): string => outsideCode(text, (part) => part.replaceAll(/([*_[\]|])/g, "\\$1"));

const sentence = (text: string): string => `${prose(`${text[0]!.toUpperCase()}${text.slice(1)}`)}.`;

export const head = (title: string, description: string, outline?: string): string =>
  `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(description)}\n${outline ? `outline: ${outline}\n` : ""}---\n`;

const section = (title: string, text: string | undefined): readonly string[] =>
  text === undefined || text === "" ? [] : ["", `## ${title}`, "", text];

function composition(m: CatalogueEntry): string {
  if (m.kind !== "method") return `None: a ${m.kind} trains nothing. Law: ${prose(m.law)}`;
  const { slots } = m.build();
  const pieces = (slot: (typeof m.differs)[number]): string => {
    const chosen: unknown = slots[slot];
    const named = (Array.isArray(chosen) ? chosen : [chosen]).flatMap((piece: unknown) =>
      typeof piece === "object" && piece !== null && "name" in piece ? [`\`${piece.name}\``] : [],
    );
    return named.length > 0 ? named.join(", ") : "its own";
  };
  const changed = Object.entries(m.defaults).filter(
    ([name, value]) => settingRows[name as keyof typeof settingRows].default !== value,
  );
  const options = Object.entries(m.options);
  return [
    m.differs.length > 0
      ? "Every other slot is as in GRPO.\n"
      : "The baseline itself: every slot as in GRPO.\n",
    ...(m.differs.length > 0
      ? ["| slot | pieces |", "| --- | --- |", ...m.differs.map((slot) => `| ${slot} | ${pieces(slot)} |`)]
      : []),
    "",
    ...(changed.length > 0 ? [`Settings: ${changed.map(([n, v]) => `\`${n}\` ${v}`).join(", ")}.`] : []),
    `Needs of the model: ${needsOf(m).join(", ") || "text only"}.`,
    ...(options.length > 0
      ? [
          "\n| option (`--set name=value`) | default | range | meaning |\n| --- | --- | --- | --- |",
          ...options.map(([name, option]) =>
            row([`\`${name}\``, String(option.default), rangeOf(option), option.help]),
          ),
        ]
      : []),
  ].join("\n");
}

function evidence(e: StoredEvidence): string {
  const { ingredient, simpler } = opponentsOf(e);
  const mean = (values: readonly number[]): string =>
    number(values.reduce((a, b) => a + b, 0) / values.length);
  const arm = (a: StoredEvidence["method"]): string =>
    row([
      a.what,
      mean(a.values),
      Object.entries(a.chosen)
        .map(([n, v]) => `${n} ${v}`)
        .join(", "),
    ]);
  return [
    `**${e.verdict}**: ${prose(e.claim)}`,
    "",
    `${sentence(e.metric)} ${sentence(`${e.direction} is better`)} Difference ${interval({ ...e.interval, mean: e.effect })}; ${e.seeds.length} seeds; level ${e.level}. Its ingredient: ${ingredient}${simpler ? ` (${interval(simpler.lead)} ahead of "${prose(simpler.what)}")` : ""}.`,
    "",
    "| arm | mean | chosen |",
    "| --- | --- | --- |",
    arm(e.baseline),
    arm(e.method),
    ...Object.values(e.others ?? {}).map(arm),
  ].join("\n");
}

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => prose(cell).replaceAll("\n", " ")).join(" | ")} |`;

/** Formulas with indices lowered, exponents raised and variables slanted, as the dashboard shows them. */
const equation = (text: string): string =>
  `<div class="equation" tabindex="0" v-pre>${text
    .split("\n")
    .map((line) => `<div>${equationParts(line).map(shown).join("")}</div>`)
    .join("")}</div>`;

function shown(part: Part): string {
  // blanks hold remarks under each other; the template compiler would make one of them
  const text = escaped(part.text).replaceAll(/\s{2,}/g, (blanks) => "\u00a0".repeat(blanks.length));
  switch (part.kind) {
    case "text":
      return text;
    case "variable":
      return `<i>${text}</i>`;
    case "said":
      return `<span class="said">${text}</span>`;
    case "sub":
    case "sup":
      return `<${part.kind}>${text}</${part.kind}>`;
  }
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
