/** The population at the door of a real server: asks over HTTP as OpenAI's clients do, and leaves feedback. */
import PQueue from "p-queue";
import pRetry from "p-retry";
import { z } from "zod";
import { isWhetstoneError, messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { type Random, randomStream } from "../../core/random.ts";
import type { Id } from "../../core/types.ts";
import type { Request } from "./advice.ts";
import { type Biases, biasesOf, requestBy, trueUtility, type User, userAt } from "./population.ts";
import { type Reaction, react } from "./reactions.ts";

/** Settings of {@link visitors}. */
export interface VisitorsOptions {
  /** Of the server, e.g. `http://127.0.0.1:8000`. Without a slash at its end. */
  readonly url: string;
  /** Sent as a bearer token. Default: none. */
  readonly key?: string;
  /** As requests name it. Default "policy". */
  readonly model?: string;
  readonly biases?: Partial<Biases>;
  /** People in the population. Default 200. */
  readonly people?: number;
  /** Default 1. Who comes, what they ask and how they react follows from it and from what is replied. */
  readonly seed?: number;
  /** Visits under way at once. Default 32. */
  readonly atOnce?: number;
  readonly stop?: AbortSignal;
}

/** One request, one reply, and what came of it. Utility and what is told later are the simulation's own knowledge. */
export interface Visit {
  readonly user: User;
  readonly request: Request;
  readonly reply: string;
  /** As the server names it. */
  readonly response: Id;
  readonly session: Id;
  readonly version: Id;
  /** {@link trueUtility}. */
  readonly utility: number;
  readonly reaction: Reaction;
}

export interface Visitors {
  /** So many visits: each asks, and leaves thumb, comment and correction at once, or nothing. */
  come(count: number): Promise<readonly Visit[]>;
  /** Weeks pass: everybody who was served and has something to tell by now tells it. @returns how many did. */
  tell(): Promise<number>;
}

/** Channels on which these users leave feedback, as the server should be told them. */
export const visitorChannels = ["reaction", "comment", "correction", "outcome"] as const;

/**
 * Visits are numbered, and everything drawn for one derives from its number: the same replies, the same feedback, however
 * many are under way at once. Reactions that tire somebody count from the next call of `come` on. Each piece of feedback has
 * an idempotency key.
 */
export function visitors(options: VisitorsOptions): Visitors {
  const { url, model = "policy", people = 200, seed = 1, atOnce = 32 } = options;
  const biases = biasesOf(options.biases);
  const random = randomStream(seed).split("visitors");
  const queue = new PQueue({ concurrency: atOnce });
  const given = new Map<Id, number>();
  let visits = 0;
  let untold: Visit[] = [];

  async function visit(index: number, own: Random): Promise<Visit> {
    const user = userAt(randomStream(seed), own.split("who").below(people));
    const request = requestBy(user, biases, own.split("request"));
    const session = `visit-${index}`;
    const asked = {
      model,
      messages: [{ role: "user", content: request.text }],
      seed: own.split("reply").seed,
    };
    const answer = await post(`/user/${user.id}/session/${session}/v1/chat/completions`, asked);
    const { id: response, choices } = completion.parse(await answer.json());
    const reply = choices[0]?.message.content ?? "";
    const made: Visit = {
      user,
      request,
      reply,
      response,
      session,
      version: answer.headers.get("x-whetstone-version") ?? "",
      utility: trueUtility(user, request, reply),
      reaction: react(user, request, reply, biases, own.split("reaction"), given.get(user.id) ?? 0),
    };
    const said = saidAtOnce(made);
    if (said.length > 0) await post("/v1/feedback", said);
    return made;
  }

  async function post(path: string, body: Json): Promise<Response> {
    const failed = (got: string, cause?: unknown): WhetstoneError =>
      new WhetstoneError("chat.failed", {
        where: `${url}${path}`,
        got,
        expected: "a gateway of Whetstone that answers",
        fix: "Start one with `whetstone serve`, and state its address and a key that may chat and give feedback.",
        cause,
      });
    const headers = {
      "content-type": "application/json",
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
    };
    const signal = options.stop;
    const sent = { method: "POST", headers, body: JSON.stringify(body), ...(signal ? { signal } : {}) };
    const ask = async (): Promise<Response> => {
      const response = await fetch(`${url}${path}`, sent);
      // as official clients do: a server that is slow or full for a moment is asked again, as is a connection that it closed
      if (passing.has(response.status)) throw failed(`HTTP ${response.status}`);
      return response;
    };
    const response = await pRetry(ask, { retries: 4, minTimeout: 50, ...(signal ? { signal } : {}) }).catch(
      (e: unknown) => {
        signal?.throwIfAborted();
        throw isWhetstoneError(e) ? e : failed(messageOf(e), e);
      },
    );
    if (response.ok) return response;
    throw failed(`HTTP ${response.status}: ${(await response.text()).slice(0, 200)}`);
  }

  return {
    async come(count) {
      const from = visits;
      visits += count;
      const made = await Promise.all(
        Array.from({ length: count }, (_, i) => queue.add(() => visit(from + i, random.split(from + i)))),
      );
      for (const { user, reaction } of made) {
        if (reaction.thumb !== undefined) given.set(user.id, (given.get(user.id) ?? 0) + 1);
      }
      untold.push(...made.filter(({ reaction }) => reaction.later));
      return made;
    },
    async tell() {
      const due = untold;
      untold = [];
      const said = due.map(({ response, user, reaction }) => ({
        kind: "outcome",
        response,
        user: user.id,
        value: reaction.later?.worked ?? 0,
        key: `${response}/outcome`,
        tags: { days: String(reaction.later?.days ?? 0) },
      }));
      for (let i = 0; i < said.length; i += listed) await post("/v1/feedback", said.slice(i, i + listed));
      return due.length;
    },
  };
}

/** Refusals that pass. */
const passing: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** Signals of one request, at the most. */
const listed = 1000;

/** What is read of an answer. */
const completion = z.object({
  id: z.string(),
  choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }) })),
});

/** Thumb, comment and correction as the inbox takes them. */
function saidAtOnce({ response, user, reaction: { thumb, comment, correction } }: Visit): Json[] {
  const about = { response, user: user.id };
  const thumbs = thumb === 1 ? "thumbs_up" : "thumbs_down";
  return [
    ...(thumb === undefined
      ? []
      : [{ kind: "reaction", reaction: thumbs, key: `${response}/reaction`, ...about }]),
    ...(comment === undefined
      ? []
      : [{ kind: "comment", text: comment, key: `${response}/comment`, ...about }]),
    ...(correction === undefined
      ? []
      : [{ kind: "correction", text: correction, key: `${response}/correction`, ...about }]),
  ];
}
