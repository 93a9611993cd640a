/** The thread in which `whetstone validate` loads an environment and plays it. */
import { parentPort, workerData } from "node:worker_threads";
import { type ErrorCode, type ErrorParts, isWhetstoneError } from "../core/errors.ts";
import { type CheckResult, type Finding, isError } from "../core/finding.ts";
import type { Codec } from "../core/model.ts";
import { randomStream } from "../core/random.ts";
import { type FirstReplies, firstReplies, signalFindings } from "../diagnose/environment/firstReplies.ts";
import { playersOf } from "../diagnose/environment/players.ts";
import { toolFindings } from "../diagnose/environment/toolFinding.ts";
import { type EnvironmentReport, examine, reportOf, someTasks } from "../diagnose/environment/validate.ts";
import type { Environment } from "../env/environment.ts";
import { makeEngine, requireEnvironment } from "./catalogue.ts";
import { downloading, lateNote } from "./output.ts";
import { withReplyTokens } from "./sampling.ts";

export interface ValidateOrder {
  readonly env: string;
  readonly engine: "local" | "tabular";
  /** A checkpoint: a folder, a GGUF file, or an id on the Hugging Face Hub. */
  readonly model?: string;
  readonly episodes: number;
  readonly seconds: number;
  readonly seed: number;
  /** Default: as the model and the memory allow, else 128. */
  readonly contextTokens?: number;
  /** In place of the environment's limit. */
  readonly replyTokens?: number;
  /** Of the model: groups of attempts to play, each at a task of its own. */
  readonly groups: number;
  readonly groupSize: number;
  readonly temperature: number;
  readonly toolsInText: boolean;
}

export type ValidateAnswer =
  /** @property seconds that one call may take. @property players number of those that play. */
  | { readonly type: "loaded"; readonly seconds: number; readonly players: number }
  | { readonly type: "call"; readonly call: string }
  | { readonly type: "alive" }
  | { readonly type: "episode" }
  /** A line for people. */
  | { readonly type: "note"; readonly line: string }
  /** The model is about to be looked at: in so many episodes. */
  | { readonly type: "replies"; readonly episodes: number }
  | { readonly type: "report"; readonly report: EnvironmentReport; readonly replies?: FirstReplies }
  /** What cannot be made again on the other side comes as it is. */
  | { readonly type: "refused"; readonly code: ErrorCode; readonly parts: ErrorParts }
  | { readonly type: "error"; readonly error: unknown };

const order = workerData as ValidateOrder;
const answer = (message: ValidateAnswer): void => parentPort!.postMessage(message);
const notes = { error: (line: string): void => answer({ type: "note", line }) };
const alive = setInterval(() => answer({ type: "alive" }), 500);

try {
  const environment = withReplyTokens(await requireEnvironment("validate", order.env), order.replyTokens);
  const players = playersOf(environment).length;
  answer({ type: "loaded", seconds: environment.limits.seconds ?? 60, players });
  answer({ type: "call", call: "tasks()" });
  const examination = await examine(environment, {
    ...order,
    needAll: true,
    onEpisode: () => answer({ type: "episode" }),
    onCall: (call) => answer({ type: "call", call }),
  });
  const contextTokens = order.contextTokens ?? (await plannedFor(order.model));
  const codec = await codecFor(environment);
  const report = reportOf(examination, codec && { codec, contextTokens });
  const { model } = order;
  const looks = model !== undefined && order.groups > 0 && !report.findings.some(isError);
  const look = looks && (await lookedAt(environment, model, contextTokens));
  if (look) {
    const checks = [...report.checks, ...look.checks];
    const findings = [...report.findings, ...look.findings];
    answer({ type: "report", report: { ...report, checks, findings }, replies: look.replies });
  } else answer({ type: "report", report });
} catch (error) {
  if (isWhetstoneError(error)) {
    const { cause: _, ...parts } = error.parts;
    answer({ type: "refused", code: error.code, parts });
  } else answer({ type: "error", error });
} finally {
  clearInterval(alive);
}

async function plannedFor(model: string | undefined): Promise<number> {
  if (model === undefined) return 128;
  return (await import("../engine/local/index.ts")).contextOf({
    from: model,
    hub: { progress: downloading(notes) },
  });
}

/** Nothing where no model was named, and the environment has no vocabulary to make a tokenizer from. */
async function codecFor({ vocabulary }: Environment): Promise<Codec | undefined> {
  if (order.model === undefined && !vocabulary) return undefined;
  const words = vocabulary?.() ?? [];
  if (order.model === undefined && order.engine === "tabular")
    return (await import("../engine/tabular/codec.ts")).vocabularyCodec(words);
  return await (await import("../engine/local/index.ts")).localCodec(order.model, words);
}

interface Look {
  readonly replies: FirstReplies;
  readonly findings: readonly Finding[];
  readonly checks: readonly CheckResult[];
}

/** Lets the model play until it has, or time is up. */
async function lookedAt(environment: Environment, from: string, contextTokens: number): Promise<Look> {
  const { groups, groupSize, temperature, seconds, seed, toolsInText } = order;
  const split = environment.splits.includes("train") ? "train" : environment.splits[0]!;
  const tasks = someTasks([environment.tasks(split)], groups);
  answer({ type: "replies", episodes: tasks.length * groupSize });
  answer({ type: "call", call: "A call in an episode of the model" });
  const engine = await makeEngine("local", { model: from, ...(toolsInText && { toolsInText }) });
  let timer: NodeJS.Timeout | undefined;
  try {
    const creating = engine.create({ id: "policy", seed, vocabulary: [], contextTokens });
    const model = await lateNote(notes, `Reading ${from}.`, creating);
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, 1000 * seconds);
    });
    const onEpisode = (): void => answer({ type: "episode" });
    const random = randomStream(seed);
    const replies = await firstReplies({
      ...{ environment, model, tasks, groupSize, temperature, random, onEpisode, late },
    });
    const { tools = [] } = environment;
    const findings = [...toolFindings(tools, model.codec), ...signalFindings(replies)];
    const checks = checksOf(tools.length > 0, replies.groups > 0, findings);
    return { replies: withoutTokens(replies), findings, checks };
  } finally {
    clearTimeout(timer);
    await engine.dispose();
  }
}

/** Messages between threads copy whole arrays, of which a turn's tokens are a part. */
function withoutTokens(replies: FirstReplies): FirstReplies {
  const shown = replies.shown.map((played) =>
    played.map((t) => ({ ...t, turns: t.turns.map(({ tokens: _, ...turn }) => turn) })),
  );
  return { ...replies, shown };
}

/** What was looked at, and whether it was found wanting. */
function checksOf(tools: boolean, measured: boolean, findings: readonly Finding[]): readonly CheckResult[] {
  const result = (check: string, title: string, looked: boolean): CheckResult => {
    const found = findings.some((f) => f.check === check);
    return { check, title, state: found ? "found" : looked ? "passed" : "not measured" };
  };
  return [
    ...(tools ? [result("tools", "the model's chat template offers the tools", true)] : []),
    result("signal", "rewards differ within some groups of the model's replies", measured),
  ];
}
