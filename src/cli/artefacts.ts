/** `whetstone artefacts`: what agents are told and remember: listed, shown, compared, written to folders and read from them. */
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import type { Command } from "commander";
import { writtenBy } from "../common/artefacts/origins.ts";
import { lineDiff, sayDiff } from "../common/text/lineDiff.ts";
import { type ArtefactVersion, artefactVersion, artefactWords } from "../core/artefact.ts";
import { WhetstoneError } from "../core/errors.ts";
import { artefactNamed } from "../store/artefactNamed.ts";
import type { ArtefactStore, ArtefactSummary } from "../store/artefacts.ts";
import { addLearn } from "./artefactsLearn.ts";
import { addCommand, type Io, interval, paint, roomOf, table } from "./output.ts";
import { trafficStoreOption, withTrafficStore } from "./trafficStore.ts";
import { time } from "./versionText.ts";

interface StoreFlags {
  readonly store: string;
}
interface ImportFlags extends StoreFlags {
  readonly name?: string;
  readonly why?: string;
}

export function addArtefacts(program: Command, io: Io): void {
  const artefacts = addCommand(
    program,
    "artefacts",
    "Manage artefacts (instructions, lessons, cases, guides) and their versions.",
    [
      "whetstone artefacts import prompts/support.md --name support",
      "whetstone artefacts export support artefacts/support",
      "whetstone artefacts diff 3f2a 81bc",
    ],
  );
  addList(artefacts, io);
  addShow(artefacts, io);
  addDiff(artefacts, io);
  addExport(artefacts, io);
  addImport(artefacts, io);
  addLearn(artefacts, io);
}

function addList(artefacts: Command, io: Io): void {
  addCommand(
    artefacts,
    "list",
    "List every artefact version: its parent, the reason for it, and its success.",
    ["whetstone artefacts list", "whetstone artefacts list --json"],
  )
    .addOption(trafficStoreOption())
    .action(({ store }: StoreFlags) =>
      withTrafficStore(
        store,
        async ({ artefacts: kept }) => {
          const [all, measures] = [await kept.list(), await kept.measures()];
          const rows = all.map((one) => {
            const measured = measures.filter(({ artefact }) => artefact === one.id);
            io.record({ type: "artefact", ...one, measures: measured });
            const last = measured.at(-1);
            return [
              one.id,
              one.name,
              artefactWords[one.kind],
              String(one.parts),
              one.parents.map((id) => id.slice(0, 8)).join(" + "),
              last ? `${interval(last.success)} ${last.where}` : "",
              time(one.created),
              one.why,
            ];
          });
          if (rows.length === 0)
            return io.say("No artefacts yet. Import one with: whetstone artefacts import FILE");
          const head = ["version", "name", "is", "parts", "from", "success", "made (UTC)", "why"];
          io.say(...table(head, rows, roomOf(io)));
        },
        "there",
      ),
    );
}

function addShow(artefacts: Command, io: Io): void {
  addCommand(artefacts, "show", "Show the full text of one version.", [
    "whetstone artefacts show support",
    "whetstone artefacts show 3f2a --json",
  ])
    .argument("<version>", "an id, the beginning of an id, or a name (its latest version)")
    .addOption(trafficStoreOption())
    .action((text: string, { store }: StoreFlags) =>
      withTrafficStore(
        store,
        async ({ artefacts: kept }) => {
          const version = await artefactNamed(kept, text, "artefacts show");
          const children = (await kept.list()).filter(({ parents }) => parents.includes(version.id));
          const measures = (await kept.measures()).filter(({ artefact }) => artefact === version.id);
          io.record({ type: "artefact", ...version, children: children.map(({ id }) => id), measures });
          io.say(
            `${version.name} ${version.id}, ${artefactWords[version.artefact.kind]}, made ${time(version.created)} UTC: ${version.why}`,
            ...(version.erased ? [`${version.erased} parts were erased since.`] : []),
            ...sayLineage(version, children),
            ...measures.map(({ where, run, success }) => {
              return `success on ${where}: ${interval(success)}${run === undefined ? "" : `, run ${run}`}`;
            }),
            "",
            await textOf(version),
          );
        },
        "there",
      ),
    );
}

/** What it was made from, and what was made from it; each id with a way to look at it. */
function sayLineage(
  { origins, parents }: ArtefactVersion,
  children: readonly ArtefactSummary[],
): readonly string[] {
  const { signals, sessions } = origins.from;
  const named: readonly (readonly [string, readonly string[]])[] = [
    ["made from version", parents],
    ["led to version", children.map(({ id }) => id)],
    ["from signal", signals],
    ["in session", sessions],
    ["from episode", origins.trajectories],
  ];
  return [`made by: ${origins.by}`, ...named.flatMap(([what, ids]) => sayIds(what, ids))];
}

/** Ids that are named one by one. */
const mostNamed = 5;

function sayIds(what: string, ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return [];
  const rest = ids.length - mostNamed;
  const more = rest > 0 ? ` and ${rest} more: --json names them all` : "";
  return [`${what}${ids.length === 1 ? "" : "s"}: ${ids.slice(0, mostNamed).join(", ")}${more}`];
}

function addDiff(artefacts: Command, io: Io): void {
  addCommand(artefacts, "diff", "Show the differences between two versions.", [
    "whetstone artefacts diff 3f2a 81bc",
    "whetstone artefacts diff 81bc",
  ])
    .argument("<before>", "a version; without a second one, it is compared with its parent")
    .argument("[after]", "another one")
    .addOption(trafficStoreOption())
    .action((one: string, other: string | undefined, { store }: StoreFlags) =>
      withTrafficStore(
        store,
        async ({ artefacts: kept }) => {
          const first = await artefactNamed(kept, one, "artefacts diff");
          const [from] = first.parents;
          if (other === undefined && from === undefined) throw noParent(first.id);
          const before =
            other === undefined ? await artefactNamed(kept, from ?? "", "artefacts diff") : first;
          const after = other === undefined ? first : await artefactNamed(kept, other, "artefacts diff");
          const changes = lineDiff(await textOf(before), await textOf(after));
          io.record({ type: "diff", before: before.id, after: after.id, changes });
          io.say(
            `${before.id} → ${after.id}: ${after.why}`,
            "",
            ...sayDiff(changes).map((line) => painted(io, line)),
          );
        },
        "there",
      ),
    );
}

function addExport(artefacts: Command, io: Io): void {
  addCommand(
    artefacts,
    "export",
    "Write a version to a folder, in which it can be edited and then imported.",
    ["whetstone artefacts export support artefacts/support"],
  )
    .argument("<version>", "an id, the beginning of an id, or a name (its latest version)")
    .argument("<folder>", "created if it does not exist; an unedited export in it is replaced")
    .addOption(trafficStoreOption())
    .action((text: string, folder: string, { store }: StoreFlags) =>
      withTrafficStore(
        store,
        async ({ artefacts: kept }) => {
          const { readArtefactFolder, writeArtefactFolder } = await import("../store/artefactFolder.ts");
          const version = await artefactNamed(kept, text, "artefacts export");
          const to = resolve(folder);
          const there = existsSync(to) ? await readArtefactFolder(to) : undefined;
          if (there?.edited) throw unread(folder, there.version.id);
          // known before it is written: what somebody asks to be erased is found there, come what may
          await kept.addFolder(to);
          await writeArtefactFolder(to, version, { over: there?.version.id ?? "nothing" });
          io.record({ type: "exported", id: version.id, folder: to });
          io.say(`${version.id} is in ${folder}. Edit it, then run: whetstone artefacts import ${folder}`);
        },
        "there",
      ),
    );
}

function addImport(artefacts: Command, io: Io): void {
  addCommand(artefacts, "import", "Import an exported folder, or a text file as a system prompt.", [
    "whetstone artefacts import artefacts/support --why 'shorter greeting'",
    "whetstone artefacts import prompts/support.md --name support",
  ])
    .argument("<path>", "a folder of an artefact, or a text file")
    .option("--name <name>", "name of the artefact (default: the name in the folder, or the file's name)")
    .option("--why <text>", "description of the change")
    .addOption(trafficStoreOption())
    .action((path: string, flags: ImportFlags) =>
      withTrafficStore(flags.store, async ({ artefacts: kept }) => {
        const version = await artefactAt(path, flags);
        const fresh = await kept.add(version);
        // equal contents are one version, under the name that it was first given
        const known = (!fresh && (await kept.get(version.id))) || version;
        if (statSync(path).isDirectory()) await settle(resolve(path), version, kept);
        io.record({ type: "artefact", ...version, known: !fresh });
        io.say(
          fresh
            ? `Added: ${version.name} ${version.id}.`
            : `${known.name} ${version.id} is already in the store under this name.`,
          ...whatNext(version),
        );
      }),
    );
}

/** What people do with it, as a kind of artefact acts. */
function whatNext({ id, artefact: { kind } }: ArtefactVersion): readonly string[] {
  switch (kind) {
    case "instructions":
    case "experience":
    case "cases":
      return [`Apply it to a version with: whetstone versions add --artefact ${id} --over VERSION`];
    case "guide":
      return [
        `Guide a version with it: whetstone versions add --artefact ${id} --guide VERSION --over VERSION`,
      ];
    case "tree":
      return [`Evaluate it in place of a run's policy: whetstone eval RUN --artefact ${id}`];
    case "rubrics":
      return [];
  }
}

/** What was edited by hand is from now on what the next edit is made from, and what is erased is found there. */
async function settle(folder: string, version: ArtefactVersion, kept: ArtefactStore): Promise<void> {
  const { writeArtefactFolder } = await import("../store/artefactFolder.ts");
  await kept.addFolder(folder);
  await writeArtefactFolder(folder, version, { over: version.id });
}

/** What a path holds: a folder of an artefact, or a text that is taken as a system prompt. */
export async function artefactAt(
  path: string,
  { name, why }: Pick<ImportFlags, "name" | "why"> = {},
): Promise<ArtefactVersion> {
  if (!existsSync(path)) {
    throw new WhetstoneError("option.range", {
      where: "artefact",
      got: `${path}, which does not exist`,
      expected: "a folder of an artefact, or a text file",
      fix: "Check the path.",
    });
  }
  if (statSync(path).isDirectory()) {
    const { readArtefactFolder } = await import("../store/artefactFolder.ts");
    const { version, edited } = await readArtefactFolder(path);
    return {
      ...version,
      ...(name === undefined ? {} : { name }),
      ...(why === undefined || !edited ? {} : { why }),
    };
  }
  const system = (await readFile(path, "utf8")).replaceAll("\r\n", "\n").trim();
  const origins = writtenBy("person");
  return artefactVersion({
    name: name ?? basename(path, extname(path)),
    artefact: { kind: "instructions", system, tools: {}, examples: [], origins },
    parents: [],
    why: why ?? `read from ${basename(path)}`,
    origins,
    created: Date.now(),
  });
}

/** Its texts as they stand in its folder; of origins and numbers, nothing. */
async function textOf({ artefact }: ArtefactVersion): Promise<string> {
  const { writeArtefactFiles } = await import("../store/artefactText.ts");
  const files = Object.entries(writeArtefactFiles(artefact)).filter(([name]) => name !== "about.json");
  const shown = files.filter(([name, text]) => name.endsWith(".md") || !/^(\{\}|\[\])\s*$/.test(text));
  return shown.map(([name, text]) => `── ${name}\n${text}`).join("\n");
}

function painted(io: Io, line: string): string {
  if (line.startsWith("+")) return paint(io, "green", line);
  return line.startsWith("-") ? paint(io, "red", line) : line;
}

const noParent = (id: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "artefacts diff",
    got: `${id}, which has no parent`,
    expected: "two versions, or one that has a parent",
    fix: "Name two versions; whetstone artefacts list shows them.",
  });
const unread = (folder: string, id: string): WhetstoneError =>
  new WhetstoneError("store.refused", {
    where: folder,
    got: `files that were edited after the export (now ${id})`,
    expected: "a folder without unsaved edits",
    fix: `Import them first with: whetstone artefacts import ${folder}`,
  });
