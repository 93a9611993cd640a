/** One served session: what was said, what people thought of it where they pointed, and a place to say more. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { ReceivedSignal, TracedCall } from "../../../src/core/served.ts";
import type { SessionBody, TurnBody } from "../../../src/serve/records.ts";
import { ask, type Loaded, messageOf } from "../api.ts";
import { type Given, give } from "../parts/feedback.ts";
import { Long } from "../parts/long.tsx";
import { Many } from "../parts/many.tsx";
import { newMessages } from "../parts/newMessages.ts";
import { Failed, Waiting } from "../parts/notice.tsx";
import { SignalLine } from "../parts/signal.tsx";
import { Thumb } from "../parts/thumb.tsx";
import { dollars, moment } from "../parts/words.ts";

export function Session() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const [now, setNow] = useState<Loaded<SessionBody>>({ state: "waiting" });
  const load = (): Promise<void> =>
    ask<SessionBody>(`/v1/sessions/${encodeURIComponent(id)}`).then(
      (data) => setNow({ state: "ready", data }),
      (e: unknown) => setNow({ state: "failed", why: messageOf(e) }),
    );
  useEffect(() => {
    document.title = `${id} · Whetstone`;
    void load();
  }, [id]);
  if (now.state === "waiting") return <Waiting what="the session" />;
  if (now.state === "failed") return <Failed what="The session" why={now.why} />;
  const { session, user, trajectories, cuts, signals, traced, usd, more } = now.data;
  const about = (turn: TurnBody, place: number, trajectory: string): readonly ReceivedSignal[] =>
    signals.filter((s) =>
      s.about.some((t) => t.response === turn.id || (t.trajectory === trajectory && t.turn === place)),
    );
  const pointedAt = (turns: readonly TurnBody[]): number =>
    turns.findIndex((turn) => `#${encodeURIComponent(turn.id)}` === location.hash);
  const firstTrajectories = Math.max(
    withinFirst(trajectories.map(({ turns }) => turns.length)),
    trajectories.findIndex(({ turns }) => pointedAt(turns) >= 0) + 1,
  );
  // of many turns, few messages each
  const messages = trajectories.reduce((n, { turns }) => n + turns.length, 0) > 50 ? 3 : 20;
  const whole = signals.filter((s) => s.about.every((t) => t.response === undefined && t.turn === undefined));
  return (
    <>
      <p class="crumbs">
        <a href="/sessions">Sessions</a>
      </p>
      <h1>
        <bdi>{session}</bdi>
      </h1>
      <p class="facts">
        {user && (
          <>
            user <bdi>{user}</bdi> ·{" "}
          </>
        )}
        {trajectories.length} {trajectories.length === 1 ? "trajectory" : "trajectories"} · {cuts} cut
        {cuts === 1 ? "" : "s"}, where a prompt did not go on from the one before
        {usd !== undefined && ` · ${dollars(usd)}${more ? " for these replies" : ""}`}
        {more && " · only the first thousand replies are shown"}
      </p>
      {whole.length > 0 && (
        <ul class="signals">
          <Many items={whole} what="signals" first={50} listed>
            {(s) => (
              <li key={s.id}>
                <SignalLine signal={s} />
              </li>
            )}
          </Many>
        </ul>
      )}
      <Many items={trajectories} what="trajectories" first={firstTrajectories}>
        {({ id: trajectory, turns }, k) => (
          <section key={trajectory} aria-label={`Trajectory ${k + 1}`}>
            {k > 0 && <p class="cut">cut: the next prompt is no continuation</p>}
            <ol class="conversation">
              <Many items={turns} what="turns" first={Math.max(firstTurns, pointedAt(turns) + 1)} listed>
                {(turn, i) => (
                  <Turn
                    key={turn.id}
                    turn={turn}
                    before={turns[i - 1]}
                    messages={messages}
                    signals={about(turn, turn.turn, trajectory)}
                    reload={load}
                  />
                )}
              </Many>
            </ol>
          </section>
        )}
      </Many>
      {traced.length > 0 && (
        <section aria-label="Other calls">
          <h2>Other calls</h2>
          <p class="faint">
            Tools and retrievals that a tracer reported, and calls of other paths that were passed on.
          </p>
          <Many items={traced} what="calls" first={50}>
            {(call) => <OtherCall key={call.id} call={call} />}
          </Many>
        </section>
      )}
    </>
  );
}

const callKinds = { tool: "tool", retrieval: "retrieval", passed: "passed on" } as const;

function OtherCall({ call }: { readonly call: TracedCall }) {
  const { kind, name, at, ms, input, output, error } = call;
  return (
    <div class="call">
      {callKinds[kind]} <b>{name}</b>{" "}
      {input !== undefined && (
        <code>
          <Long text={input} />
        </code>
      )}
      {output !== undefined && (
        <>
          {" → "}
          <code>
            <Long text={output} />
          </code>
        </>
      )}
      <span class="faint">
        {" "}
        {moment(new Date(at).toISOString())} · {Math.round(ms)} ms
        {call.tags["whetstone.bytes"] !== undefined && ` · bytes: ${call.tags["whetstone.bytes"]}`}
      </span>
      {error !== undefined && <span class="bad"> {error}</span>}
    </div>
  );
}

/** Turns that are shown at first, of all trajectories together. */
const firstTurns = 40;

/** How many trajectories have as many turns as are shown at first. @param lengths in turns. */
function withinFirst(lengths: readonly number[]): number {
  let turns = 0;
  const full = lengths.findIndex((n) => {
    turns += n;
    return turns >= firstTurns;
  });
  return full < 0 ? lengths.length : full + 1;
}

interface TurnProps {
  readonly turn: TurnBody;
  readonly before: TurnBody | undefined;
  /** Messages that are shown at first. */
  readonly messages: number;
  readonly signals: readonly ReceivedSignal[];
  readonly reload: () => Promise<void>;
}

function Turn({ turn, before, messages, signals, reload }: TurnProps) {
  const place = useRef<HTMLDivElement>(null);
  const span = useSelectedPart(place);
  const [first] = turn.choices;
  const content = first?.message.content ?? "";
  const marked = signals.flatMap((s) => s.about.flatMap((t) => (t.characters ? [t.characters] : [])));
  return (
    <li class="turn" id={turn.id}>
      {turn.skipped !== undefined && (
        <p class="faint">{turn.skipped.toLocaleString("en-GB")} earlier messages are not shown.</p>
      )}
      <Many items={newMessages(turn, before)} what="messages" first={messages}>
        {(message, i) => (
          <div class={`said ${message.role}`} key={`${i} ${message.role}`}>
            <div class="who">{message.role}</div>
            <bdi>
              <div class="tokens">
                <Long text={message.content} />
              </div>
            </bdi>
          </div>
        )}
      </Many>
      <Many items={turn.choices} what="replies" first={10}>
        {(choice, i) => (
          <div class="said acted" key={`${i} ${choice.stop}`}>
            <div class="who">
              {turn.version}
              {turn.choices.length > 1 && `, reply ${i + 1} of ${turn.choices.length}`}
            </div>
            <bdi>
              {i === 0 ? (
                <div class="tokens" ref={place}>
                  {pieces(content, marked).map(({ from, text, mark }) => {
                    const Piece = mark ? "mark" : "span";
                    return (
                      <Piece key={from} data-from={from}>
                        <Long text={text} />
                      </Piece>
                    );
                  })}
                </div>
              ) : (
                <div class="tokens">
                  <Long text={choice.message.content} />
                </div>
              )}
            </bdi>
            <Many items={choice.message.toolCalls ?? []} what="calls" first={20}>
              {(call, k) => (
                <div class="call" key={`${k} ${call.id}`}>
                  calls <b>{call.name}</b>{" "}
                  <code>
                    <Long text={call.arguments} />
                  </code>
                </div>
              )}
            </Many>
          </div>
        )}
      </Many>
      <p class="earned">
        {moment(new Date(turn.at).toISOString())} · {Math.round(turn.ms)} ms · chosen with probability{" "}
        {turn.propensity}
        {turn.status !== "complete" && ` · ${turn.status}${turn.error ? `: ${turn.error}` : ""}`}
        {turn.usd !== undefined && ` · ${dollars(turn.usd)}`}
        {first?.sampledTokens !== undefined && ` · ${first.sampledTokens} exact tokens`}
      </p>
      {signals.length > 0 && (
        <ul class="signals">
          <Many items={signals} what="signals" first={20} listed>
            {(s) => (
              <li key={s.id}>
                <SignalLine signal={s} />
              </li>
            )}
          </Many>
        </ul>
      )}
      <Give response={turn.id} content={content} span={span} reload={reload} />
    </li>
  );
}

/** Characters of the text at a place that the reader has selected, half-open; kept while a form about them is filled in. */
function useSelectedPart(place: RefObject<HTMLElement | null>): readonly [number, number] | undefined {
  const [span, setSpan] = useState<readonly [number, number]>();
  useEffect(() => {
    const changed = (): void => {
      const selection = getSelection();
      const range = selection && selection.rangeCount > 0 ? selection.getRangeAt(0) : undefined;
      if (!range || range.collapsed || !place.current?.contains(range.commonAncestorContainer)) return;
      const from = placeOf(range.startContainer, range.startOffset);
      const until = placeOf(range.endContainer, range.endOffset);
      if (from !== undefined && until !== undefined) setSpan([from, until]);
    };
    document.addEventListener("selectionchange", changed);
    return () => document.removeEventListener("selectionchange", changed);
  }, [place]);
  return span;
}

/** Where a place on the page is in the whole text, of which each piece says where it begins: long ones are not all shown. */
function placeOf(node: Node, offset: number): number | undefined {
  const holder = node instanceof Element ? node : node.parentElement;
  const piece = holder?.closest<HTMLElement>("[data-from]");
  if (!piece) return undefined;
  const before = document.createRange();
  before.selectNodeContents(piece);
  before.setEnd(node, offset);
  return Number(piece.dataset.from) + before.toString().length;
}

/** A text cut where marks begin and end. */
function pieces(text: string, marks: readonly (readonly [number, number])[]) {
  const edges = [...new Set([0, text.length, ...marks.flat()])]
    .filter((at) => at <= text.length)
    .sort((a, b) => a - b);
  return edges.slice(0, -1).map((from, i) => ({
    from,
    text: text.slice(from, edges[i + 1]),
    mark: marks.some(([a, b]) => a <= from && from < b),
  }));
}

interface GiveProps {
  readonly response: string;
  readonly content: string;
  readonly span: readonly [number, number] | undefined;
  readonly reload: () => Promise<void>;
}

/** Feedback by hand on one reply: a thumb, stars, a comment on what is selected, the reply as it should have been. */
function Give({ response, content, span, reload }: GiveProps) {
  const [open, setOpen] = useState<"comment" | "correction">();
  const [text, setText] = useState("");
  const [said, setSaid] = useState("");
  const send = async (signal: Given): Promise<void> => {
    try {
      await give({ response, ...signal });
      setOpen(undefined);
      setText("");
      setSaid("Kept.");
      await reload();
    } catch (e) {
      setSaid(`It could not be kept. ${messageOf(e)}`);
    }
  };
  const begin = (what: "comment" | "correction"): void => {
    setOpen(what);
    setText(what === "correction" ? content : "");
    setSaid("");
  };
  return (
    <div class="give">
      <button
        type="button"
        aria-label="Thumbs up"
        onClick={() => send({ kind: "reaction", reaction: "thumbs_up", channel: "thumbs" })}
      >
        <Thumb up />
      </button>
      <button
        type="button"
        aria-label="Thumbs down"
        onClick={() => send({ kind: "reaction", reaction: "thumbs_down", channel: "thumbs" })}
      >
        <Thumb up={false} />
      </button>
      <label>
        Stars{" "}
        <select
          value=""
          onChange={(e) => {
            const value = Number(e.currentTarget.value);
            if (value > 0) void send({ kind: "rating", value });
          }}
        >
          <option value="">–</option>
          {[1, 2, 3, 4, 5].map((n) => (
            <option key={n} value={n}>
              {n}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => begin("comment")}>
        {span ? "Comment on the selection" : "Comment"}
      </button>
      <button type="button" onClick={() => begin("correction")}>
        Correct
      </button>
      <span role="status" class="faint">
        {said}
      </span>
      {open && (
        <form
          onSubmit={(e) => {
            e.preventDefault();
            void send({ kind: open, text, ...(open === "comment" && span ? { characters: span } : {}) });
          }}
        >
          <label>
            {open === "correction"
              ? "The reply as it should have been"
              : span
                ? `On “${content.slice(...span)}”`
                : "Comment"}
            <textarea
              rows={open === "correction" ? 6 : 3}
              value={text}
              onInput={(e) => setText(e.currentTarget.value)}
            />
          </label>
          <button type="submit" disabled={text.trim() === "" || (open === "correction" && text === content)}>
            Send
          </button>{" "}
          <button type="button" onClick={() => setOpen(undefined)}>
            Cancel
          </button>
        </form>
      )}
    </div>
  );
}
