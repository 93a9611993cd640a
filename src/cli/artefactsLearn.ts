/** `whetstone artefacts learn`: corrections and preferences from production as examples or lessons, without any model. */
import { type Command, Option } from "commander";
import {
  emptyInstructions,
  emptyLibrary,
  withEntries,
  withExamples,
} from "../common/artefacts/mergeArtefacts.ts";
import { joinedOrigins } from "../common/artefacts/origins.ts";
import { type Artefact, artefactVersion, artefactWords, type Origins } from "../core/artefact.ts";
import { WhetstoneError } from "../core/errors.ts";
import { type ArtefactExample, artefactExamplesFrom } from "../exchange/artefactExamples.ts";
import { timeOf } from "./durations.ts";
import { addCommand, type Io } from "./output.ts";
import { trafficStoreOption, withTrafficStore } from "./trafficStore.ts";

interface LearnFlags {
  readonly store: string;
  readonly as: "examples" | "lessons";
  readonly name: string;
  readonly since?: string;
}

export function addLearn(artefacts: Command, io: Io): void {
  addCommand(
    artefacts,
    "learn",
    "Turn corrections and preferences into examples or lessons, without calling a model.",
    [
      "whetstone artefacts learn --as examples --name support",
      "whetstone artefacts learn --as lessons --name support-lessons --since 7d",
    ],
  )
    .addOption(
      new Option("--as <what>", "examples of an instruction set, or lessons of an experience library")
        .choices(["examples", "lessons"])
        .default("lessons"),
    )
    .option("--name <name>", "artefact to add them to; it is created if it does not exist", "learnt")
    .option("--since <date>", "use only responses served since then: a date, a time, or an age such as 7d")
    .addOption(trafficStoreOption())
    .action((flags: LearnFlags) =>
      withTrafficStore(
        flags.store,
        async (production) => {
          const now = Date.now();
          const { name } = flags;
          const found: ArtefactExample[] = [];
          const filter = flags.since === undefined ? {} : { from: timeOf("--since", flags.since, now) };
          for await (const teaching of artefactExamplesFrom(production, filter)) found.push(teaching);
          const last = (await production.artefacts.list()).findLast((one) => one.name === name);
          const base = last && (await production.artefacts.get(last.id))?.artefact;
          const { artefact, fresh } = grown(flags, found, base);
          if (fresh.length === 0) {
            io.record({ type: "learnt", name, fresh: 0 });
            return io.say(
              `Nothing new: ${found.length} pieces of feedback, all of which ${name} already contains or which are of another kind.`,
            );
          }
          const version = artefactVersion({
            name,
            artefact,
            parents: last ? [last.id] : [],
            why: `${fresh.length} ${flags.as} from feedback`,
            origins: joinedOrigins("feedback", fresh),
            created: now,
          });
          await production.artefacts.add(version);
          io.record({ type: "learnt", fresh: fresh.length, ...version });
          io.say(
            `${version.name} ${version.id}: ${fresh.length} new ${flags.as}, from ${version.origins.from.signals.length} signals.`,
            `See them with: whetstone artefacts show ${version.id}; apply them with: whetstone versions add --artefact ${version.id} --over VERSION`,
          );
        },
        "there",
      ),
    );
}

/** The artefact with what is new, and where that came from. */
function grown(
  { as, name }: LearnFlags,
  found: readonly ArtefactExample[],
  base: Artefact | undefined,
): { readonly artefact: Artefact; readonly fresh: readonly Origins[] } {
  const kind = as === "examples" ? "instructions" : "experience";
  const origins = (parts: readonly { readonly origins: Origins }[]): readonly Origins[] =>
    parts.map((part) => part.origins);
  if (kind === "instructions" && (base === undefined || base.kind === "instructions")) {
    const examples = found.flatMap((one) => (one.kind === "example" ? [one.example] : []));
    const { artefact, fresh } = withExamples(base ?? emptyInstructions, examples);
    return { artefact, fresh: origins(fresh) };
  }
  if (kind === "experience" && (base === undefined || base.kind === "experience")) {
    const entries = found.flatMap((one) => (one.kind === "entry" ? [one.entry] : []));
    const { artefact, fresh } = withEntries(base ?? emptyLibrary, entries);
    return { artefact, fresh: origins(fresh) };
  }
  throw new WhetstoneError("option.range", {
    where: "--name",
    got: `${name}, which is a${base?.kind === "instructions" || base?.kind === "experience" ? "n" : ""} ${artefactWords[base?.kind ?? kind]}`,
    expected: `an ${artefactWords[kind]}, which has ${as}`,
    fix: "Choose another name, or the other value of --as.",
  });
}
