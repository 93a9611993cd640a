import { type Json, numberOf, objectOf, textOf } from "../../core/json.ts";
import type { Target } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import { type Entry, feedback, type Importer, ignored } from "./entry.ts";
import { conversationOf, type Fields, fieldsOf, repliesOf, timeOf, unwrapped } from "./given.ts";
import { invalid } from "./records.ts";

const named = (id: Id): Id => `langsmith:${id}`;

/**
 * LangSmith: runs and feedback from its API and its bulk exports, as JSON, JSON lines or CSV.
 *
 * A trace becomes a session, and each of its runs of type "llm" a response. Feedback is about such a run, else about the
 * whole trace. A boolean score becomes a reaction of 1 or 0, a number a score, a value without a score a reaction by name, a
 * correction a correction if it is a text or holds a single one, a comment a separate critique.
 */
export function langsmith(file: string): Importer {
  const replies = new Set<Id>();
  const traceOf = new Map<Id, Id>();
  const userOf = new Map<Id, string>();

  function survey(value: Json): void {
    const row = fieldsOf(value);
    const id = textOf(row.id);
    if (row.runType === undefined || id === undefined) return;
    traceOf.set(id, textOf(row.traceId) ?? id);
    if (row.runType === "llm") replies.add(id);
    const user = metadataOf(row).user_id;
    if (typeof user === "string") userOf.set(textOf(row.traceId) ?? id, user);
  }

  function feedbackOf(row: Fields, line: number): readonly Entry[] {
    const id = textOf(row.id);
    const at = timeOf(row.createdAt ?? row.modifiedAt ?? row.startTime);
    const channel = textOf(row.key);
    if (id === undefined || at === undefined || channel === undefined) {
      throw invalid(file, line, "feedback without id, key or created_at", "all three");
    }
    const run = textOf(row.runId);
    const trace = textOf(row.traceId) ?? (run && traceOf.get(run)) ?? run;
    if (trace === undefined) return ignored("feedback on a project");
    const about: readonly Target[] = [
      run !== undefined && replies.has(run) ? { response: named(run) } : { session: named(trace) },
    ];
    const from = objectOf(unwrapped(row.feedbackSource));
    const who = textOf(objectOf(from?.metadata)?.user_id ?? from?.user_id);
    const kind = textOf(from?.type) ?? textOf(row.feedbackSourceType) ?? "api";
    const source =
      kind === "model" || kind === "auto_eval"
        ? "judge:langsmith"
        : kind === "app"
          ? `reviewer:${who ?? "app"}`
          : "langsmith";
    const given = {
      id: named(id),
      channel,
      about,
      at,
      source,
      user: kind === "api" ? userOf.get(trace) : undefined,
    };
    const made: Entry[] = [];
    const add = (
      part: string,
      entry: Pick<Parameters<typeof feedback>[0], "kind" | "value" | "text">,
    ): void => {
      made.push(feedback({ ...given, id: part === "" ? named(id) : `${named(id)}/${part}`, ...entry }));
    };
    const score = csvScalar(row.score);
    if (typeof score === "boolean") add("", { kind: "reaction", text: String(score), value: Number(score) });
    else if (typeof score === "number") add("", { kind: "score", value: score });
    else if (row.value !== undefined) {
      add("", {
        kind: "reaction",
        text: typeof row.value === "string" ? row.value : JSON.stringify(row.value),
      });
    }
    const right = correctionOf(unwrapped(row.correction));
    if (right !== undefined) add("correction", { kind: "correction", text: right });
    const comment = textOf(row.comment);
    if (comment !== undefined) add("comment", { kind: "critique", text: comment });
    return made.length > 0 ? made : ignored("feedback without content");
  }

  return {
    survey,
    entries({ value, line }) {
      const row = fieldsOf(value);
      if (row.key !== undefined) return feedbackOf(row, line);
      if (row.runType !== undefined) return responseOf(file, userOf, row, line);
      throw invalid(
        file,
        line,
        "a record that is neither a run nor feedback",
        "a run or feedback of a LangSmith export",
      );
    },
  };
}

function responseOf(
  file: string,
  userOf: ReadonlyMap<Id, string>,
  row: Fields,
  line: number,
): readonly Entry[] {
  const id = textOf(row.id);
  const at = timeOf(row.startTime);
  if (id === undefined || at === undefined)
    throw invalid(file, line, "a run without id or start_time", "both");
  if (row.runType !== "llm") return ignored(`run of type ${textOf(row.runType) ?? "unknown"}`);
  const prompt = conversationOf(row.inputs);
  const choices = repliesOf(row.outputs);
  if (!prompt || choices.length === 0) return ignored("run without inputs or outputs");
  const metadata = metadataOf(row);
  const asked = objectOf(objectOf(unwrapped(row.extra))?.invocation_params) ?? {};
  const trace = textOf(row.traceId) ?? id;
  const user = userOf.get(trace);
  const [input, output] = [numberOf(row.promptTokens), numberOf(row.completionTokens)];
  const thread = textOf(metadata.thread_id ?? metadata.session_id ?? metadata.conversation_id);
  return [
    {
      kind: "response",
      draft: {
        id: named(id),
        session: named(trace),
        ...(user === undefined ? {} : { user }),
        at,
        ms: Math.max(0, (timeOf(row.endTime) ?? at) - at),
        model: textOf(metadata.ls_model_name ?? asked.model ?? asked.model_name) ?? "",
        settings: Object.fromEntries(
          Object.entries(asked).filter(([name]) => name !== "model" && name !== "tools"),
        ),
        prompt,
        choices,
        status: "complete",
        ...(input === undefined || output === undefined ? {} : { usage: { input, output } }),
        tags: thread === undefined ? {} : { "langsmith.thread": thread },
      },
    },
  ];
}

const metadataOf = (row: Fields): Fields => objectOf(objectOf(unwrapped(row.extra))?.metadata) ?? {};

/** Values in CSV are texts. */
function csvScalar(value: Json | undefined): Json | undefined {
  if (typeof value !== "string") return value;
  if (/^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return Number.isNaN(Number(value)) ? value : Number(value);
}

/** The right reply: a text, or an object with a single text. */
function correctionOf(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  const texts = Object.values(objectOf(value) ?? {}).filter((inner) => typeof inner === "string");
  return texts.length === 1 ? texts[0] : undefined;
}
