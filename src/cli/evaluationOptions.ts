/** Whom `whetstone eval` measures and `whetstone play` watches: a run's policy or a model of others, and what it is told. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Command } from "commander";
import { type ArtefactVersion, artefactWords } from "../core/artefact.ts";
import type { Chat } from "../core/chat.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import { isGguf } from "../engine/local/gguf/model.ts";
import { artefactNamed } from "../store/artefactNamed.ts";
import { bestArtefact, currentArtefact } from "../train/artefacts.ts";
import { checkpointState, findCheckpoint } from "../train/checkpoint.ts";
import { artefactAt } from "./artefacts.ts";
import { makeEngine } from "./catalogue.ts";
import { type ChatFlags, chatOf, spendLine } from "./chat.ts";
import { downloading, type Io, lateNote } from "./output.ts";
import { existingStore } from "./runs.ts";
import { requireModelFor } from "./sampling.ts";
import { statedServer } from "./tinker.ts";
import { type FoundWeights, findWeights } from "./weights.ts";

/** What names a policy and what it is told, beside a run. */
export interface EvaluationFlags extends ChatFlags {
  readonly store: string;
  /** A version by name or id, a path, or "none". Default: what the run wrote. */
  readonly artefact?: string;
  /** With a pretrained model. */
  readonly toolsInText?: true;
}

/** Adds the option that a pretrained model may need. */
export const withToolsInText = (command: Command): Command =>
  command.option(
    "--tools-in-text",
    "with a pretrained --model: write tools, calls and results into the messages, if its chat template has no place for them",
  );

export interface EvaluatedPolicy {
  readonly name: string;
  /** The run or checkpoint, where one was named. */
  readonly found?: FoundWeights;
  readonly artefact?: ArtefactVersion;
  open(stop: AbortSignal): Promise<Model | Chat>;
  /** Says what was spent, where replies are paid for. */
  dispose(): Promise<void>;
}

/**
 * The policy that a command was told to look at.
 *
 * A chat model takes the place of a run's weights, and is told what the run wrote. A run whose policy was one already is
 * measured with that one, unless another is named.
 * @param where the command, for errors. @param named a run, a checkpoint or a GGUF file; without one, the flags name a chat model or a pretrained one.
 */
export async function evaluatedPolicy(
  where: string,
  named: string | undefined,
  flags: EvaluationFlags,
  io: Io,
): Promise<EvaluatedPolicy> {
  const found = named === undefined ? undefined : await findWeights(where, named, flags.store);
  const version = await versionWithArtefact(flags, found);
  const told = version && { artefact: version };
  const talking = talkingFlags(flags, found);
  const from = talking
    ? undefined
    : (flags.model ?? (found && isGguf(found.weights) ? found.weights : undefined));
  if (from === undefined) requireModelFor(flags, ["toolsInText"], "a pretrained --model");
  if (talking) {
    let chat: Chat | undefined;
    return {
      name: `${talking.model} at ${talking.chat}`,
      ...(found && { found }),
      ...told,
      open: async (stop) => (chat = chatOf(talking, stop)),
      dispose: async () => void (chat && io.error(spendLine(chat.spent()))),
    };
  }
  if (flags.model !== undefined && named !== undefined) throw bothNamed(named, flags.model);
  const name = from ?? named;
  if (name === undefined) throw nobody(where);
  const { engine, open } = from === undefined ? await ofRun(found!) : await pretrained(from, flags, io);
  return {
    name,
    ...(found && { found }),
    ...told,
    open: () => lateNote(io, `Reading ${name}.`, open()),
    dispose: () => engine.dispose(),
  };
}

async function ofRun({ begun, weights }: FoundWeights) {
  const engine = await makeEngine(begun?.engine ?? "local", statedServer(begun?.engineOptions ?? {}));
  return { engine, open: () => engine.open("policy", weights) };
}

/** A model that no run has trained, with as long a context as a run would give it. */
async function pretrained(model: string, { toolsInText }: EvaluationFlags, io: Io) {
  const engine = await makeEngine("local", { model, toolsInText }, { progress: downloading(io) });
  const open = async (): Promise<Model> => {
    const contextTokens = await engine.contextTokens!();
    return engine.create({ id: "policy", seed: 1, vocabulary: [], contextTokens });
  };
  return { engine, open };
}

/** What a report says of it; nothing where nobody would expect that something is told. */
export function artefactLines(
  told: ArtefactVersion | undefined,
  asked: string | undefined,
): readonly string[] {
  if (told) {
    const { kind } = told.artefact;
    const how = kind === "tree" ? "Played in place of the policy" : "Artefact";
    return [`${how}: ${told.name} ${told.id}, ${artefactWords[kind]} (${told.why}).`];
  }
  return asked === undefined ? [] : ["Artefact: none."];
}

function talkingFlags(flags: EvaluationFlags, found: FoundWeights | undefined): ChatFlags | undefined {
  const begun = found?.begun;
  if (begun?.engine !== "chat") return flags.chat === undefined ? undefined : flags;
  const { url, model, keyEnv } = begun.engineOptions;
  return {
    ...(url !== undefined && { chat: url }),
    ...(model !== undefined && { model }),
    ...(keyEnv !== undefined && { keyEnv }),
    ...flags,
  };
}

async function versionWithArtefact(
  { artefact: wanted, store: file }: EvaluationFlags,
  found: FoundWeights | undefined,
): Promise<ArtefactVersion | undefined> {
  if (wanted === "none") return undefined;
  const version = wanted === undefined ? found && (await artefactOf(found)) : await namedIn(wanted, file);
  if (version?.artefact.kind === "guide") throw noHints(version);
  if (version?.artefact.kind === "rubrics") throw forJudges(version);
  return version;
}

async function namedIn(wanted: string, file: string): Promise<ArtefactVersion> {
  if (existsSync(wanted)) return await artefactAt(wanted);
  const store = await existingStore(file);
  try {
    return await artefactNamed(store.artefacts, wanted, "--artefact");
  } finally {
    await store.close();
  }
}

/** What stood in force with these weights: with final ones the folder beside them, which people may have edited. */
async function artefactOf({ weights, begun }: FoundWeights): Promise<ArtefactVersion | undefined> {
  const checkpoint = join(weights, "..", "..");
  if (existsSync(join(checkpoint, "state.json"))) return currentArtefact(await checkpointState(checkpoint));
  if (!begun) return undefined;
  const kept = join(dirname(weights), "artefact");
  if (basename(weights) === "final" && existsSync(kept)) return await artefactAt(kept);
  const last = await findCheckpoint(begun.out);
  return last && bestArtefact(last.state);
}

const nobody = (where: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where,
    got: "nothing to measure",
    expected: "a run, a checkpoint, --model or --chat",
    fix: "Name a run; whetstone runs lists them.",
  });
const bothNamed = (named: string, model: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "--model",
    got: `${model}, and ${named} beside it`,
    expected: "one model",
    fix: "Leave one of them out, or give --chat with the address of the API that has the model.",
  });
const noHints = ({ name, id }: ArtefactVersion): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "--artefact",
    got: `${name} ${id}, a guide, whose hints a second policy writes`,
    expected: "instructions, lessons or cases, or none",
    fix: "Serve it with whetstone versions add --artefact … --guide …, and measure the gateway with --chat.",
  });
const forJudges = ({ name, id }: ArtefactVersion): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "--artefact",
    got: `${name} ${id}, rubrics for a judge`,
    expected: "instructions, lessons or cases, or none",
    fix: "Name an artefact of one of these kinds.",
  });
