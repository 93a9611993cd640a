/** What people said of replies: the file that a judge is held against. */
import { z } from "zod";
import { messageOf, WhetstoneError } from "../core/errors.ts";

const shared = {
  prompt: z.string(),
  group: z.string().min(1).optional(),
  aspect: z.string().min(1).max(100).optional(),
};
const pair = z.strictObject({
  ...shared,
  a: z.string(),
  b: z.string(),
  preferred: z.enum(["a", "b", "tie"]),
  own: z.enum(["a", "b"]).optional(),
  rephrased: z.strictObject({ prompt: z.string(), a: z.string(), b: z.string() }).partial().optional(),
});
const single = z.strictObject({
  ...shared,
  reply: z.string(),
  label: z.union([z.literal(0), z.literal(1)]),
  own: z.boolean().optional(),
  rephrased: z.strictObject({ prompt: z.string(), reply: z.string() }).partial().optional(),
});

/** Two replies to one prompt, and which one people prefer. */
export interface PairLabel {
  readonly prompt: string;
  readonly a: string;
  readonly b: string;
  readonly preferred: "a" | "b" | "tie";
  /** Labels of one group depend on each other, such as those of one person. Default: those of one prompt. */
  readonly group?: string | undefined;
  /** What the label is about, such as "tone". Default: "overall". */
  readonly aspect?: string | undefined;
  /** The reply that the judge's own model wrote, if exactly one of them is. */
  readonly own?: "a" | "b" | undefined;
  /** What of it means the same in other words; the rest stays. A judge is asked about it once more. */
  readonly rephrased?: Words<"prompt" | "a" | "b"> | undefined;
}

/** One reply, and whether people find it good (1) or not (0). */
export interface ReplyLabel {
  readonly prompt: string;
  readonly reply: string;
  readonly label: 0 | 1;
  readonly group?: string | undefined;
  /** As of a pair. */
  readonly aspect?: string | undefined;
  /** Whether the judge's own model wrote it. */
  readonly own?: boolean | undefined;
  /** As of a pair. */
  readonly rephrased?: Words<"prompt" | "reply"> | undefined;
}

type Words<Name extends string> = { readonly [Key in Name]?: string | undefined };

/** Labels of one kind. */
export type Labels =
  | { readonly kind: "pairs"; readonly labels: readonly PairLabel[] }
  | { readonly kind: "replies"; readonly labels: readonly ReplyLabel[] };

/** The cluster of a label. */
export const groupOf = ({
  group,
  prompt,
}: {
  readonly group?: string | undefined;
  readonly prompt: string;
}) => group ?? prompt;

/** What a label says: 1 where reply a is better, or the only reply good; ½ for a tie; else 0. */
export const saidBy = (label: PairLabel | ReplyLabel): number =>
  "label" in label ? label.label : { a: 1, b: 0, tie: 0.5 }[label.preferred];

/** The replies that a label is about, that called a first. */
export const repliesIn = (label: PairLabel | ReplyLabel): readonly string[] =>
  "reply" in label ? [label.reply] : [label.a, label.b];

/** What a label is about. */
export const aspectOf = ({ aspect = "overall" }: { readonly aspect?: string | undefined }): string => aspect;

/** The labels of each aspect, in the order in which aspects come first, with their places among all. */
export function labelsByAspect(
  all: Labels,
): readonly { readonly aspect: string; readonly some: Labels; readonly places: readonly number[] }[] {
  const placed = Map.groupBy(all.labels.keys(), (at) => aspectOf(all.labels[at]!));
  return [...placed].map(([aspect, places]) => ({
    aspect,
    places,
    some: { kind: all.kind, labels: places.map((at) => all.labels[at]!) } as Labels,
  }));
}

const expected = {
  pairs:
    '{"prompt", "a", "b", "preferred": "a", "b" or "tie"}, and perhaps "group", "aspect", "own": "a" or "b", and "rephrased": {"prompt", "a", "b"}, or some of these',
  replies:
    '{"prompt", "reply", "label": 0 or 1}, and perhaps "group", "aspect", "own": true or false, and "rephrased": {"prompt", "reply"}, or one of these',
} as const;

/**
 * Labels from a text of JSON lines; empty lines do not count. All are pairs or all are single replies, as the first one is.
 * @param where the file, for errors. @throws WhetstoneError `import.invalid` that names the line.
 */
export function readLabels(text: string, where: string): Labels {
  const rows = text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .flatMap((line, i) => (line.trim() === "" ? [] : [{ line, at: `${where}, line ${i + 1}` }]))
    .map(({ line, at }) => ({ row: objectIn(line, at), at }));
  const [first] = rows;
  if (!first) throw broken(where, "no labels", `a JSON object a line: ${expected.pairs}`);
  const kind = "reply" in first.row || "label" in first.row ? "replies" : "pairs";
  if (kind === "pairs") return { kind, labels: rows.map(({ row, at }) => fitting(pair, row, at, kind)) };
  return { kind, labels: rows.map(({ row, at }) => fitting(single, row, at, kind)) };
}

function objectIn(line: string, at: string): object {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (e) {
    throw broken(at, `text that is no JSON (${messageOf(e)})`, "a JSON object");
  }
  if (typeof row === "object" && row !== null && !Array.isArray(row)) return row;
  throw broken(at, Array.isArray(row) ? "a list" : JSON.stringify(row), "a JSON object");
}

function fitting<T>(schema: z.ZodType<T>, row: object, at: string, kind: Labels["kind"]): T {
  const read = schema.safeParse(row);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const place = issue && issue.path.length > 0 ? `"${issue.path.join(".")}": ` : "";
  throw broken(at, `${place}${issue?.message ?? "another form"}`, expected[kind]);
}

const broken = (where: string, got: string, expects: string): WhetstoneError =>
  new WhetstoneError("import.invalid", {
    where,
    got,
    expected: expects,
    fix: "Correct the file; labels of pairs and of single replies belong in two files.",
  });
