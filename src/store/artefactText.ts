/** Artefacts as files that people read and edit: texts in Markdown, everything else beside them in JSON. */
import { hash } from "node:crypto";
import { z } from "zod";
import { writtenBy } from "../common/artefacts/origins.ts";
import type { Artefact, ArtefactKind, Origins } from "../core/artefact.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Message } from "../core/types.ts";

/** Texts by file name. */
export type ArtefactFiles = Readonly<Record<string, string>>;

const ids = z.array(z.string()).readonly();
export const originsSchema = z.strictObject({
  by: z.string(),
  from: z.strictObject({ sessions: ids, users: ids, responses: ids, signals: ids }).readonly(),
  trajectories: ids,
});
/** Metadata of parts by their ids; of the system text under "". */
const aboutSchema = z.record(
  z.string(),
  z.strictObject({
    origins: originsSchema,
    score: z.number().optional(),
    shown: z.number().optional(),
  }),
);
type About = z.output<typeof aboutSchema>;

const messageSchema = z
  .strictObject({
    role: z.enum(["system", "user", "assistant", "tool"]),
    content: z.string(),
    name: z.string().optional(),
    toolCalls: z
      .array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() }))
      .optional(),
    toolCallId: z.string().optional(),
  })
  .transform(
    ({ role, content, name, toolCalls, toolCallId }): Message => ({
      role,
      content,
      ...(name === undefined ? {} : { name }),
      ...(toolCalls === undefined ? {} : { toolCalls }),
      ...(toolCallId === undefined ? {} : { toolCallId }),
    }),
  );
const toolsSchema = z.record(z.string(), z.string());
const examplesSchema = z.array(
  z.strictObject({ id: z.string().optional(), messages: z.array(messageSchema) }),
);
const guideSchema = z.strictObject({ policy: z.string().min(1) });
const treeSchema = z.strictObject({
  facts: z.array(z.string()),
  skills: z.array(z.string()),
  idle: z.string(),
});

/**
 * The files of an artefact:
 *
 * - instructions: `system.md` (or `system.instead.md`), `tools.json`, `examples.json`;
 * - experience: `lessons.md`, cases: `cases.md`, a heading for each part with its subject quoted below;
 * - guide: `frame.md`, `guide.json`;
 * - rubrics: `rubrics.md`, a heading for each;
 * - tree: `tree.md`, `tree.json`;
 * - all except guides: `about.json`, origins and numbers by id, which people need not edit.
 */
export function writeArtefactFiles(artefact: Artefact): ArtefactFiles {
  switch (artefact.kind) {
    case "instructions": {
      const { system, instead, tools, examples, origins } = artefact;
      const about = [["", { origins }], ...examples.map((e) => [e.id, { origins: e.origins }] as const)];
      return {
        [instead ? "system.instead.md" : "system.md"]: `${system}\n`,
        "tools.json": json(tools),
        "examples.json": json(examples.map(({ id, messages }) => ({ id, messages }))),
        "about.json": json(Object.fromEntries(about)),
      };
    }
    case "experience":
      return {
        "lessons.md": sections(
          artefact.entries.map(({ id, kind, when, text }) => ({ word: kind, id, quoted: when, text })),
        ),
        "about.json": json(
          Object.fromEntries(
            artefact.entries.map(({ id, score, shown, origins }) => [id, { score, shown, origins }]),
          ),
        ),
      };
    case "cases":
      return {
        "cases.md": sections(
          artefact.cases.map(({ id, situation, plan, success }) => ({
            word: success ? "success" : "failure",
            id,
            quoted: situation,
            text: plan,
          })),
        ),
        "about.json": json(Object.fromEntries(artefact.cases.map(({ id, origins }) => [id, { origins }]))),
      };
    case "guide":
      return { "frame.md": `${artefact.frame}\n`, "guide.json": json({ policy: artefact.policy }) };
    case "rubrics":
      return {
        "rubrics.md": sections(
          artefact.rubrics.map(({ id, kind, text }) => ({ word: kind, id, quoted: "", text })),
        ),
        "about.json": json({ "": { origins: artefact.origins } }),
      };
    case "tree": {
      const { tree, facts, skills, idle, origins } = artefact;
      return {
        "tree.md": `\`\`\`text\n${tree}\n\`\`\`\n`,
        "tree.json": json({ facts, skills, idle }),
        "about.json": json({ "": { origins } }),
      };
    }
  }
}

/** Every file name that an artefact of a kind may have. */
export const artefactFileNames: Readonly<Record<ArtefactKind, readonly string[]>> = {
  instructions: ["system.md", "system.instead.md", "tools.json", "examples.json", "about.json"],
  experience: ["lessons.md", "about.json"],
  cases: ["cases.md", "about.json"],
  guide: ["frame.md", "guide.json"],
  rubrics: ["rubrics.md", "about.json"],
  tree: ["tree.md", "tree.json", "about.json"],
};

/**
 * Parses an artefact from its files. A part without an id gets one from its content; a part without origins counts as written
 * by a person. Whitespace around texts is ignored.
 * @throws WhetstoneError `import.invalid`, naming the file and the line.
 */
export function readArtefactFiles(kind: ArtefactKind, files: ArtefactFiles): Artefact {
  const about: About = files["about.json"] === undefined ? {} : read("about.json", files, aboutSchema);
  const originsOf = (id: string): Origins => about[id]?.origins ?? writtenBy("person");
  switch (kind) {
    case "instructions": {
      const [plain, instead] = [files["system.md"], files["system.instead.md"]];
      if (plain !== undefined && instead !== undefined) {
        throw invalid("system.instead.md", "system.md beside it", "one of the two", "Delete one of them.");
      }
      const examples =
        files["examples.json"] === undefined ? [] : read("examples.json", files, examplesSchema);
      return {
        kind,
        system: textIn(instead ?? plain ?? ""),
        ...(instead === undefined ? {} : { instead: true }),
        tools: files["tools.json"] === undefined ? {} : read("tools.json", files, toolsSchema),
        examples: examples.map(({ id: stated, messages }) => {
          const id = stated ?? digest(JSON.stringify(messages));
          return { id, messages, origins: originsOf(id) };
        }),
        origins: originsOf(""),
      };
    }
    case "experience":
      return {
        kind,
        entries: readSections("lessons.md", files, ["strategy", "warning"]).map(
          ({ word, id, quoted, text }) => ({
            id,
            kind: word,
            when: quoted,
            text,
            score: about[id]?.score ?? 0,
            shown: about[id]?.shown ?? 0,
            origins: originsOf(id),
          }),
        ),
      };
    case "cases":
      return {
        kind,
        cases: readSections("cases.md", files, ["success", "failure"]).map(({ word, id, quoted, text }) => ({
          id,
          situation: quoted,
          plan: text,
          success: word === "success",
          origins: originsOf(id),
        })),
      };
    case "guide": {
      if (files["guide.json"] === undefined)
        throw invalid("guide.json", "no such file", "which policy writes the hints", "Write it again.");
      const frame = textIn(files["frame.md"] ?? "");
      if (!frame.includes("{hint}"))
        throw invalid("frame.md", "no {hint}", "{hint}, the place of the hint", "Write {hint} there.");
      return { kind, policy: read("guide.json", files, guideSchema).policy, frame };
    }
    case "rubrics":
      return {
        kind,
        rubrics: readSections("rubrics.md", files, ["skill", "tool"]).map(({ word, id, quoted, text }) => ({
          id,
          kind: word,
          text: quoted === "" ? text : `${quoted}\n\n${text}`,
        })),
        origins: originsOf(""),
      };
    case "tree": {
      if (files["tree.json"] === undefined)
        throw invalid("tree.json", "no such file", "what the tree may name", "Write it again.");
      // indentation is significant in trees: keep the lines between the code fences as they are
      const tree = textIn(files["tree.md"] ?? "").replace(/^```\w*\n([\s\S]*?)\n?```$/, "$1");
      return { kind, tree, ...read("tree.json", files, treeSchema), origins: originsOf("") };
    }
  }
}

interface Section<Word extends string = string> {
  readonly word: Word;
  readonly id: string;
  /** Its subject. */
  readonly quoted: string;
  readonly text: string;
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const digest = (text: string): string => hash("sha256", text).slice(0, 12);
const textIn = (text: string): string => text.replaceAll("\r\n", "\n").trim();

/** Writes a heading, the subject as a quotation, and the text; text lines that look like a heading or quotation get a backslash. */
const sections = (all: readonly Section[]): string =>
  all
    .map(({ word, id, quoted, text }) => {
      const quote = quoted === "" ? "" : `${quoted.replaceAll(/^/gm, "> ")}\n\n`;
      return `## ${word} \`${id}\`\n\n${quote}${text.replaceAll(/^(?=[#>\\])/gm, "\\")}\n`;
    })
    .join("\n");

const isOneOf = <Word extends string>(words: readonly Word[], text: string): text is Word =>
  words.some((word) => word === text);

function readSections<Word extends string>(
  file: string,
  files: ArtefactFiles,
  words: readonly Word[],
): readonly Section<Word>[] {
  const found: Section<Word>[] = [];
  const seen = new Map<string, number>();
  const lines = textIn(files[file] ?? "").split("\n");
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] ?? "";
    const at = i + 1;
    i++;
    if (line.trim() === "") continue;
    const [, word = "", stated] = /^##\s+(\w+)(?:\s+`([^`]+)`)?\s*$/.exec(line) ?? [];
    if (!isOneOf(words, word)) {
      throw invalid(
        `${file}, line ${at}`,
        `"${line.slice(0, 60)}"`,
        `a heading such as "## ${words[0]}"`,
        `Begin each with "## ${words.join('" or "## ')}"; within a text write \\# or \\> at the start of a line.`,
      );
    }
    const body: string[] = [];
    for (; i < lines.length && !lines[i]?.startsWith("#"); i++) body.push(lines[i] ?? "");
    const first = body.findIndex((one) => one.trim() !== "");
    const quotes = body.slice(Math.max(0, first));
    const end = quotes.findIndex((one) => !one.startsWith(">"));
    const quoted = quotes.slice(0, end < 0 ? quotes.length : end).map((one) => one.replace(/^> ?/, ""));
    const text = textIn(
      quotes
        .slice(quoted.length)
        .map((one) => one.replace(/^\\(?=[#>\\])/, ""))
        .join("\n"),
    );
    const about = quoted.join("\n");
    const id = stated ?? digest(`${word}\0${about}\0${text}`);
    const before = seen.get(id);
    if (before !== undefined) {
      throw invalid(
        `${file}, line ${at}`,
        `\`${id}\` again`,
        `an id that no other part has; line ${before} has this one`,
        "Remove the id from the copy, which then gets a new one.",
      );
    }
    seen.set(id, at);
    if (text === "") {
      throw invalid(
        `${file}, line ${at}`,
        `a ${word} without text`,
        "a text below the heading",
        "Write a text, or delete the heading.",
      );
    }
    found.push({ word, id, quoted: about, text });
  }
  return found;
}

function read<T>(file: string, files: ArtefactFiles, schema: z.ZodType<T>): T {
  try {
    const result = schema.safeParse(JSON.parse(files[file] ?? ""));
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    const got = `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "another form"}`;
    throw invalid(file, got, "the form that whetstone writes", "Undo the change, or correct the value.");
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e;
    throw invalid(file, messageOf(e), "JSON", "Correct the file: a comma or a quotation mark is missing.");
  }
}

export const invalid = (where: string, got: string, expected: string, fix: string): WhetstoneError =>
  new WhetstoneError("import.invalid", { where, got, expected, fix });
