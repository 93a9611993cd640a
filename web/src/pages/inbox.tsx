/** What users said, the latest first; what wants a look is looked at here. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Becomes, InboxItem, InboxPage } from "../../../src/serve/dashboard/types.ts";
import { ask, type Loaded, messageOf, useEvents } from "../api.ts";
import { give } from "../parts/feedback.ts";
import { Long } from "../parts/long.tsx";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { SignalLine } from "../parts/signal.tsx";

const page = signal<Loaded<InboxPage>>({ state: "waiting" });
const onlyWaiting = signal(true);

const messages = (data: InboxPage): void => {
  page.value = { state: "ready", data };
};

async function load(): Promise<void> {
  try {
    page.value = { state: "ready", data: await ask<InboxPage>("/api/inbox") };
  } catch (e) {
    if (page.value.state !== "ready") page.value = { state: "failed", why: messageOf(e) };
  }
}

export function Inbox() {
  useEffect(() => {
    document.title = "Inbox · Whetstone";
    void load();
  }, []);
  useEvents("/api/inbox/live", "inbox", messages);
  const now = page.value;
  if (now.state === "waiting") return <Waiting what="feedback" />;
  if (now.state === "failed") return <Failed what="Feedback" why={now.why} />;
  const { items, waiting } = now.data;
  if (items.length === 0) {
    return (
      <Empty>
        <h1>No feedback yet</h1>
        <p>
          An agent's calls go through <code>npx whetstone serve --upstream URL</code>, and what users think of
          them comes to <code>POST /v1/feedback</code>.
        </p>
      </Empty>
    );
  }
  const shown = onlyWaiting.value ? items.filter((item) => item.wanting && !item.reviewed) : items;
  return (
    <>
      <h1>Inbox</h1>
      <div class="tools">
        <label>
          <input
            type="checkbox"
            checked={onlyWaiting.value}
            onChange={(e) => {
              onlyWaiting.value = e.currentTarget.checked;
            }}
          />{" "}
          Only what wants a look
        </label>
        <span role="status" class="faint">
          {waiting} of the last {items.length} wait
        </span>
      </div>
      {shown.length === 0 ? (
        <Empty>Everything has been looked at.</Empty>
      ) : (
        <ul class="inbox">
          {shown.map((item) => (
            <Item key={item.signal.id} item={item} />
          ))}
        </ul>
      )}
    </>
  );
}

function Item({ item }: { readonly item: InboxItem }) {
  const { signal: messages, reply, reviewed, becomes } = item;
  const [trouble, setTrouble] = useState("");
  const review = async (verdict: string): Promise<void> => {
    setTrouble("");
    const [about] = messages.about;
    try {
      await give({
        kind: "reaction",
        reaction: verdict,
        channel: "review",
        ...(about?.response ? { response: about.response } : {}),
        ...(about?.session ? { session: about.session } : {}),
        ...(about?.trajectory ? { trajectory: about.trajectory } : {}),
        tags: { signal: messages.id },
      });
      await load();
    } catch (e) {
      setTrouble(`It could not be kept. ${messageOf(e)}`);
    }
  };
  const isLesson = messages.kind === "correction" || messages.kind === "demonstration";
  return (
    <li>
      <p>
        <SignalLine signal={messages} />
      </p>
      {reply && (
        <blockquote>
          <Said who="user" text={reply.asked} />
          <Said who="reply" text={reply.said} />
          <a href={`/sessions/${encodeURIComponent(reply.session)}#${reply.response}`}>The session</a>{" "}
          <span class="faint">{reply.version}</span>
        </blockquote>
      )}
      {becomes && <Lesson of={becomes} />}
      <p class="tools">
        {reviewed && (
          <span class="faint">
            {reviewed.verdict} by <bdi>{reviewed.by}</bdi>
          </span>
        )}
        {isLesson ? (
          <>
            <button type="button" onClick={() => review("accepted")}>
              Accept
            </button>
            <button type="button" onClick={() => review("rejected")}>
              Reject
            </button>
          </>
        ) : (
          <button type="button" onClick={() => review("seen")}>
            Seen
          </button>
        )}
        {trouble && (
          <span class="bad" role="alert">
            {trouble}
          </span>
        )}
      </p>
    </li>
  );
}

/** What learning makes of a correction or demonstration, word for word. */
function Lesson({ of: becomes }: { readonly of: Becomes }) {
  if ("nothing" in becomes)
    return <p class="faint">Nothing is learnt from it: {nothing[becomes.nothing]}.</p>;
  const { chosen, rejected, shown } = becomes;
  if (chosen === undefined || rejected === undefined) {
    return (
      <blockquote>
        <p class="faint">Becomes a demonstration:</p>
        <Said who="shown" text={shown} />
      </blockquote>
    );
  }
  return (
    <blockquote>
      <p class="faint">Becomes a pair for training, and a demonstration of the one that is chosen:</p>
      <Said who="chosen" text={chosen} />
      <Said who="rejected" text={rejected} />
    </blockquote>
  );
}

const nothing = {
  same: "it changes only blanks, case or punctuation",
  duplicate: "it is a duplicate of an earlier example",
  rejected: "a reviewer rejected it",
  overruled: "the user changed it later",
  noReply: "it is not about a single known reply",
  otherPrompt: "it compares replies to different prompts",
} as const;

function Said({ who, text }: { readonly who: string; readonly text: string }) {
  return (
    <p>
      <span class="who">{who}</span>{" "}
      <bdi>
        <Long text={text} first={2000} />
      </bdi>
    </p>
  );
}
