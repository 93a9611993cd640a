import { type Json, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";
import type { Target } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import { type Entry, feedback, type Importer, ignored } from "./entry.ts";
import { conversationOf, type Fields, fieldsOf, repliesOf, timeOf, unwrapped } from "./given.ts";
import { invalid } from "./records.ts";

const named = (id: Id): Id => `langfuse:${id}`;

/** What a first reading of a file tells about its traces and observations. */
interface Known {
  readonly file: string;
  readonly generations: Set<Id>;
  readonly traceOf: Map<Id, Id>;
  readonly userOf: Map<Id, string>;
  /** Traces of each Langfuse session. */
  readonly tracesOf: Map<Id, Set<Id>>;
}

/**
 * Langfuse: traces, observations and scores from its API, its blob storage and its tables: JSON, JSON lines or CSV, camel
 * or snake case, pages under `data`, and traces with their observations and scores inside.
 *
 * A trace becomes a session, and each of its generations a response; a trace without generations (as in a table of traces)
 * is itself one response. A score is about its generation, else its whole trace; a score on a Langfuse session is about all
 * its traces in the file. NUMERIC becomes a score, BOOLEAN a reaction of 1 or 0, CATEGORICAL a reaction by name, TEXT a
 * critique, CORRECTION a correction; a comment beside a boolean or category becomes a separate critique.
 */
export function langfuse(file: string): Importer {
  const known: Known = {
    file,
    generations: new Set(),
    traceOf: new Map(),
    userOf: new Map(),
    tracesOf: new Map(),
  };

  function survey(value: Json): void {
    for (const row of rowsOf(value)) {
      const kind = kindOf(row);
      const trace = textOf(kind === "trace" ? row.id : row.traceId);
      if (trace !== undefined && kind !== "score") note(known, row, trace);
      if (kind === "trace") for (const inner of partsOf(row)) survey(inner);
    }
  }

  function entriesOf(row: Fields, line: number): readonly Entry[] {
    switch (kindOf(row)) {
      case "trace": {
        const parts = partsOf(row);
        const inner = parts.flatMap((part) => rowsOf(part).flatMap((one) => entriesOf(one, line)));
        const has = parts.some((part) => isGeneration(objectOf(part)?.type));
        return has ? inner : [...responseOf(known, row, textOf(row.id) ?? "", line), ...inner];
      }
      case "observation":
        return isGeneration(row.type)
          ? responseOf(known, row, textOf(row.traceId) ?? "", line)
          : ignored("observation that is no generation");
      case "score":
        return scoreOf(known, row, line);
      case undefined:
        throw invalid(
          file,
          line,
          "a record that is not a trace, observation or score",
          "a record of a Langfuse export",
        );
    }
  }

  return {
    survey,
    entries: ({ value, line }) => rowsOf(value).flatMap((row) => entriesOf(row, line)),
  };
}

function note(known: Known, { id, traceId, userId, sessionId, type }: Fields, trace: Id): void {
  const { generations, traceOf, userOf, tracesOf } = known;
  if (traceId !== undefined && typeof id === "string") traceOf.set(id, trace);
  if (isGeneration(type) && typeof id === "string") generations.add(id);
  if (typeof userId === "string") userOf.set(trace, userId);
  if (typeof sessionId !== "string") return;
  const traces = tracesOf.get(sessionId) ?? new Set();
  tracesOf.set(sessionId, traces.add(trace));
}

function responseOf({ file, userOf }: Known, row: Fields, trace: Id, line: number): readonly Entry[] {
  const id = textOf(row.id);
  const at = timeOf(row.startTime ?? row.timestamp ?? row.createdAt);
  if (id === undefined || at === undefined) throw invalid(file, line, "no id or no time", "both");
  const prompt = conversationOf(row.input);
  const choices = repliesOf(row.output);
  if (!prompt || choices.length === 0) return ignored("generation without input or output");
  const end = timeOf(row.endTime) ?? at + 1000 * (numberOf(row.latency) ?? 0);
  const user = textOf(row.userId) ?? userOf.get(trace);
  const usage = objectOf(unwrapped(row.usageDetails ?? row.usage));
  const [input, output] = [numberOf(usage?.input), numberOf(usage?.output)];
  const session = textOf(row.sessionId);
  return [
    {
      kind: "response",
      draft: {
        id: named(id),
        session: named(trace),
        ...(user === undefined ? {} : { user }),
        at,
        ms: Math.max(0, end - at),
        model: textOf(row.model) ?? textOf(row.providedModelName) ?? "",
        settings: objectOf(unwrapped(row.modelParameters)) ?? {},
        prompt,
        choices,
        status: "complete",
        ...(input === undefined || output === undefined ? {} : { usage: { input, output } }),
        tags: session === undefined ? {} : { "langfuse.session": session },
      },
    },
  ];
}

function targetsOf({ generations, traceOf, tracesOf }: Known, row: Fields): readonly Target[] {
  const subject = fieldsOf(row.subject ?? {});
  const by = (kind: string, field: Json | undefined): Id | undefined =>
    textOf(field) ?? (subject.kind === kind ? textOf(subject.id) : undefined);
  const observation = by("observation", row.observationId);
  const trace = by("trace", row.traceId ?? subject.traceId) ?? (observation && traceOf.get(observation));
  const session = by("session", row.sessionId);
  if (observation !== undefined && (generations.has(observation) || trace === undefined)) {
    return [{ response: named(observation) }];
  }
  // with a file of scores only, it is unknown which observations are generations
  if (observation !== undefined && generations.size === 0) return [{ response: named(observation) }];
  if (trace !== undefined) return [{ session: named(trace) }];
  return [...(tracesOf.get(session ?? "") ?? [])].map((id) => ({ session: named(id) }));
}

function scoreOf(known: Known, row: Fields, line: number): readonly Entry[] {
  const { file, userOf } = known;
  const id = textOf(row.id);
  const name = textOf(row.name);
  const at = timeOf(row.timestamp ?? row.createdAt);
  if (id === undefined || name === undefined || at === undefined) {
    throw invalid(file, line, "a score without id, name or time", "all three");
  }
  const about = targetsOf(known, row);
  if (about.length === 0) return ignored("score on something that is not in this file");
  const author = textOf(row.authorUserId);
  const trace = textOf(row.traceId) ?? "";
  const from = textOf(row.source)?.toLowerCase() ?? "api";
  const user = from === "api" ? userOf.get(trace) : undefined;
  const given = {
    id: named(id),
    channel: name,
    about,
    at,
    source:
      author !== undefined ? `reviewer:${author}` : from === "eval" ? "judge:langfuse" : `langfuse:${from}`,
    user,
  };
  const comment = textOf(row.comment);
  const words =
    comment === undefined
      ? []
      : [feedback({ ...given, id: `${named(id)}/comment`, kind: "critique", text: comment })];
  const said = textOf(row.stringValue) ?? (typeof row.value === "string" ? row.value : undefined);
  const value = typeof row.value === "boolean" ? Number(row.value) : Number(row.value ?? Number.NaN);
  switch (textOf(row.dataType)?.toUpperCase() ?? (Number.isNaN(value) ? "CATEGORICAL" : "NUMERIC")) {
    case "BOOLEAN": {
      const yes = Number.isNaN(value) ? Number(/^true$/i.test(said ?? "")) : value;
      return [feedback({ ...given, kind: "reaction", text: yes ? "true" : "false", value: yes }), ...words];
    }
    case "CATEGORICAL":
      if (said === undefined)
        throw invalid(file, line, "a category without its name", "a text in stringValue or value");
      return [feedback({ ...given, kind: "reaction", text: said }), ...words];
    case "TEXT":
      return said === undefined
        ? ignored("empty text")
        : [feedback({ ...given, kind: "critique", text: said }), ...words];
    case "CORRECTION":
      return said === undefined
        ? ignored("empty correction")
        : [feedback({ ...given, kind: "correction", text: said }), ...words];
    default:
      if (Number.isNaN(value))
        throw invalid(file, line, `the value ${JSON.stringify(row.value)}`, "a number");
      return [feedback({ ...given, kind: "score", value, text: comment })];
  }
}

const isGeneration = (type: Json | undefined): boolean => textOf(type)?.toUpperCase() === "GENERATION";

/** The records of an API page. */
function rowsOf(value: Json): readonly Fields[] {
  const object = objectOf(value);
  if (object && Array.isArray(object.data) && object.id === undefined) return object.data.flatMap(rowsOf);
  // a single downloaded trace
  const trace = objectOf(object?.trace);
  if (trace)
    return [fieldsOf({ ...trace, observations: object?.observations ?? [], scores: object?.scores ?? [] })];
  return [fieldsOf(value)];
}

/** Observations and scores inside a trace; the API's list endpoint only has their ids. */
const partsOf = (trace: Fields): readonly Json[] =>
  [...listOf(unwrapped(trace.observations)), ...listOf(unwrapped(trace.scores))].flatMap((part) => {
    const inner = objectOf(part);
    return inner
      ? [
          {
            traceId: textOf(trace.id) ?? "",
            userId: trace.userId ?? null,
            sessionId: trace.sessionId ?? null,
            ...inner,
          },
        ]
      : [];
  });

function kindOf(row: Fields): "trace" | "observation" | "score" | undefined {
  if (
    row.dataType !== undefined ||
    (row.name !== undefined && row.value !== undefined && row.type === undefined)
  )
    return "score";
  if (row.type !== undefined && (row.traceId !== undefined || row.startTime !== undefined))
    return "observation";
  return row.id !== undefined && (row.timestamp !== undefined || row.observations !== undefined)
    ? "trace"
    : undefined;
}
