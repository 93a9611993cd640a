/** Parses the body of `POST /v1/feedback` into signals. */
import { z } from "zod";
import type { ReceivedSignal, Target } from "../core/served.ts";
import { orderedId } from "./orderedId.ts";
import type { WrongField } from "./refusal.ts";

/** Most signals in one request. */
export const mostSignals = 1000;
const day = 86_400_000;

/** No control characters and no lone surrogates: databases refuse them, or treat two different texts as equal. */
const line = z.string().regex(/^[^\p{Cc}\p{Cs}]+$/u, "expected a text without control characters, not empty");
const id = line.max(256);
const text = z
  .string()
  .min(1)
  .max(200_000)
  .regex(/^[^\0\p{Cs}]*$/u, "expected a text without null characters and broken surrogates");
const name = z
  .string()
  .regex(
    /^[\p{L}\p{N}_.:+-]{1,64}$/u,
    "expected a name: 1 to 64 letters, digits, or one of _ . : + - without blanks",
  );
const finite = z.number().min(-1e12).max(1e12);
const offset = z.int().min(0).max(10_000_000);

const place = {
  response: id.optional(),
  choice: z.int().min(0).max(1023).optional(),
  session: id.optional(),
  trajectory: id.optional(),
  turn: z.int().min(0).max(1_000_000).optional(),
  characters: z.tuple([offset, offset]).optional(),
};
type Place = z.infer<z.ZodObject<typeof place>>;

const about = z.strictObject(place).superRefine(checkPlace);

const common = {
  channel: name.optional(),
  source: line.max(128).optional(),
  user: id.optional(),
  at: z
    .union([z.number().min(0), z.iso.datetime({ offset: true })], {
      error: "expected milliseconds since 1970, or a time such as 2026-01-31T12:00:00Z",
    })
    .optional(),
  key: id.optional(),
  tags: z
    .record(line.max(64), text.max(512).or(z.literal("")))
    .refine((tags) => Object.keys(tags).length <= 32, "expected 32 tags at the most")
    .optional(),
};
const one = { ...place, ...common };

const body = z
  .discriminatedUnion("kind", [
    /** A button that was pressed. Default value: 1 for `thumbs_up`, 0 for `thumbs_down`. */
    z.strictObject({ kind: z.literal("reaction"), reaction: name, value: finite.optional(), ...one }),
    /** A value on a scale, by default 1 to 5. Stored normalised to [0, 1]. */
    z.strictObject({
      kind: z.literal("rating"),
      value: finite,
      scale: z.tuple([finite, finite]).optional(),
      text: text.optional(),
      ...one,
    }),
    z.strictObject({ kind: z.literal("comment"), text, value: finite.optional(), ...one }),
    z.strictObject({ kind: z.literal("critique"), text, value: finite.optional(), ...one }),
    /** What the reply should have been; with `characters`, the replacement for that range. */
    z.strictObject({ kind: z.literal("correction"), text, ...one }),
    /** An expert's reply, written without seeing the model's reply. */
    z.strictObject({ kind: z.literal("demonstration"), text, ...one }),
    z.strictObject({ kind: z.literal("score"), value: finite, text: text.optional(), ...one }),
    /** A later outcome: a sale, a test that passed, a ticket that was reopened. */
    z.strictObject({ kind: z.literal("outcome"), value: z.union([finite, z.boolean()]), ...one }),
    /** `among`: the compared targets, in the order shown. `best`: index in `among`. */
    z.strictObject({
      kind: z.literal("preference"),
      among: z.array(about).min(2).max(64),
      best: z.int().min(0).max(63),
      value: finite.optional(),
      ...common,
    }),
  ])
  .superRefine((sent, context) => {
    if (sent.kind !== "preference") return checkPlace(sent, context);
    if (sent.best >= sent.among.length) {
      const message = `expected an index of what was compared: 0 to ${sent.among.length - 1}`;
      context.addIssue({ code: "custom", path: ["best"], message });
    }
  })
  .superRefine((sent, context) => {
    if (sent.kind !== "rating") return;
    const [low, high] = sent.scale ?? fiveStars;
    if (low >= high) {
      context.addIssue({ code: "custom", path: ["scale"], message: "expected [lowest, highest]" });
    } else if (sent.value < low || sent.value > high) {
      const message = `expected a number from ${low} to ${high}; set scale for another range`;
      context.addIssue({ code: "custom", path: ["value"], message });
    }
  });

const fiveStars = [1, 5] as const;

/** One signal as clients send it. */
export type FeedbackBody = z.input<typeof body>;
type Sent = z.output<typeof body>;

function checkPlace(at: Place, context: z.RefinementCtx): void {
  const wrong = (path: string, message: string) =>
    context.addIssue({ code: "custom", path: [path], message });
  const reply = at.response !== undefined || (at.trajectory !== undefined && at.turn !== undefined);
  if (at.response === undefined && at.session === undefined && at.trajectory === undefined) {
    wrong("response", "expected a target: a response, a session or a trajectory");
  }
  if (at.turn !== undefined && at.trajectory === undefined) {
    wrong("turn", "expected trajectory as well: turn is counted within it");
  }
  if (at.choice !== undefined && !reply)
    wrong("choice", "expected response as well: choice is an index into it");
  if (at.characters === undefined) return;
  if (!reply) wrong("characters", "expected response as well: characters are counted in it");
  if (at.characters[0] >= at.characters[1]) {
    wrong("characters", "expected [from, until] with from below until: a half-open range");
  }
}

/** Arrival time and headers of the request. */
export interface Arrival {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Header Idempotency-Key. In a list, each signal without its own key gets this key with its index. */
  readonly key?: string;
}

/** A parsed request body: its signals, or every invalid field. */
export type ReadFeedback =
  | { readonly signals: readonly ReceivedSignal[]; readonly list: boolean }
  | { readonly wrong: readonly WrongField[] };

/** @param sent one signal or a list of signals, as parsed JSON. */
export function readFeedback(sent: unknown, arrival: Arrival): ReadFeedback {
  const list = Array.isArray(sent);
  const items: readonly unknown[] = list ? sent : [sent];
  if (items.length === 0 || items.length > mostSignals) {
    const message = `expected 1 to ${mostSignals} signals, got ${items.length}`;
    return { wrong: [{ path: "", message }] };
  }
  const wrong: WrongField[] = [];
  const signals: ReceivedSignal[] = [];
  for (const [i, item] of items.entries()) {
    const before = list ? [String(i)] : [];
    const read = body.safeParse(item);
    if (!read.success) {
      wrong.push(...read.error.issues.flatMap((issue) => wrongFields(issue, before)));
    } else if (timeOf(read.data.at, arrival) > arrival.now + day) {
      wrong.push({ path: [...before, "at"].join("."), message: "expected a time that is not in the future" });
    } else {
      signals.push(signalOf(read.data, arrival, list ? i : undefined));
    }
    if (wrong.length >= mostWrong) break;
  }
  return wrong.length > 0 ? { wrong: wrong.slice(0, mostWrong) } : { signals, list };
}

/** Most invalid fields that a response names. */
const mostWrong = 50;

function wrongFields(issue: z.core.$ZodIssue, before: readonly string[]): WrongField[] {
  const path = [...before, ...issue.path.map(String)];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...path, key.slice(0, 64)].join("."),
      message: "is not a field of this kind of feedback",
    }));
  }
  if (issue.code === "invalid_union" && issue.path.at(-1) === "kind") {
    return [{ path: path.join("."), message: `expected one of ${kinds.join(", ")}` }];
  }
  return [{ path: path.join("."), message: issue.message.replace(/^Invalid input: /, "") }];
}

/** The kinds of feedback that clients can send. */
export const kinds = body.def.options.map((option) => option.shape.kind.value);

function timeOf(at: Sent["at"], { now }: Arrival): number {
  if (at === undefined) return now;
  return typeof at === "number" ? at : Date.parse(at);
}

function signalOf(sent: Sent, arrival: Arrival, index: number | undefined): ReceivedSignal {
  const { channel, source = "user", user, tags } = sent;
  const outer = index === undefined ? arrival.key : arrival.key && `${arrival.key}/${index}`;
  const key = sent.key ?? outer;
  const { said, tagged, ...content } = contentOf(sent);
  return {
    id: `sig_${orderedId(arrival.now)}`,
    ...(key === undefined ? {} : { key }),
    ...content,
    ...(said === undefined ? {} : { text: said }),
    channel: channel ?? sent.kind,
    source,
    ...(user === undefined ? {} : { user }),
    at: timeOf(sent.at, arrival),
    received: arrival.now,
    tags: { ...tagged, ...tags },
  };
}

type Content = Pick<ReceivedSignal, "kind" | "about" | "value" | "best"> & {
  readonly said?: string | undefined;
  readonly tagged?: Readonly<Record<string, string>>;
};

function contentOf(sent: Sent): Content {
  if (sent.kind === "preference") {
    return { kind: "preference", about: sent.among.map(targetOf), best: sent.best, ...valued(sent.value) };
  }
  const where = { about: [targetOf(sent)] };
  switch (sent.kind) {
    case "reaction":
      return {
        kind: "reaction",
        ...where,
        said: sent.reaction,
        ...valued(sent.value ?? thumbs.get(sent.reaction)),
      };
    case "rating": {
      const [low, high] = sent.scale ?? fiveStars;
      const tagged = { rating: String(sent.value), scale: `${low}..${high}` };
      return { kind: "score", ...where, value: (sent.value - low) / (high - low), said: sent.text, tagged };
    }
    case "comment":
    case "critique":
      return { kind: "critique", ...where, said: sent.text, ...valued(sent.value) };
    case "correction":
    case "demonstration":
      return { kind: sent.kind, ...where, said: sent.text };
    case "score":
      return { kind: "score", ...where, value: sent.value, said: sent.text };
    case "outcome":
      return { kind: "reward", ...where, value: Number(sent.value) };
  }
}

const thumbs: ReadonlyMap<string, number> = new Map([
  ["thumbs_up", 1],
  ["thumbs_down", 0],
]);

const valued = (value: number | undefined) => (value === undefined ? {} : { value });

function targetOf({ response, choice, session, trajectory, turn, characters }: Place): Target {
  return {
    ...(response === undefined ? {} : { response }),
    ...(choice === undefined ? {} : { choice }),
    ...(session === undefined ? {} : { session }),
    ...(trajectory === undefined ? {} : { trajectory }),
    ...(turn === undefined ? {} : { turn }),
    ...(characters === undefined ? {} : { characters }),
  };
}
