/** What users said, the latest first; what wants a look is looked at here. */
import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Becomes, InboxItem, InboxPage } from "../../../src/serve/dashboard/types.ts";
import { ask, type Loaded, messageOf, useEvents } from "../api.ts";
import { give } from "../parts/feedback.ts";
import { type InAddress, useInAddress } from "../parts/inAddress.ts";
import { useKeys } from "../parts/keys.ts";
import { Long } from "../parts/long.tsx";
import { Empty, Failed, Waiting } from "../parts/notice.tsx";
import { SignalLine } from "../parts/signal.tsx";
import { digits } from "../parts/words.ts";

const page = signal<Loaded<InboxPage>>({ state: "waiting" });

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
  if (now.data.items.length === 0) {
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
  return <Filled page={now.data} />;
}

/** Spans of time by the address, in milliseconds. */
const spans: Readonly<Record<string, number>> = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/** What can be filtered by, with the values that an item has. */
const facets: readonly (readonly [
  name: string,
  label: string,
  of: (item: InboxItem) => string | undefined,
])[] = [
  ["kind", "Kind", ({ signal }) => signal.kind],
  ["channel", "Channel", ({ signal }) => signal.channel],
  ["user", "User", ({ signal }) => signal.user ?? signal.source],
  ["version", "Version", ({ reply }) => reply?.version],
];

function isFitting(item: InboxItem, query: InAddress["query"]): boolean {
  const { since = "", all, text = "" } = query;
  if (all !== "true" && (!item.wanting || item.reviewed)) return false;
  const span = spans[since];
  if (span !== undefined && item.signal.at < Date.now() - span) return false;
  const words =
    `${item.signal.text ?? ""} ${item.reply?.asked ?? ""} ${item.reply?.said ?? ""}`.toLowerCase();
  if (text && !words.includes(text.toLowerCase())) return false;
  return facets.every(([name, , of]) => !query[name] || of(item) === query[name]);
}

function Filled({ page: { items, waiting } }: { readonly page: InboxPage }) {
  const address = useInAddress();
  const shown = items.filter((item) => isFitting(item, address.query));
  const [at, setAt] = useState(0);
  const [trouble, setTrouble] = useState("");
  const here = shown[Math.min(at, shown.length - 1)];
  const list = useRef<HTMLUListElement>(null);
  const tell = async (those: readonly InboxItem[], verdict: string): Promise<void> => {
    setTrouble("");
    try {
      for (const { signal } of those) await give(reviewOf(signal, verdict));
    } catch (e) {
      setTrouble(`It could not be kept. ${messageOf(e)}`);
    }
    await load();
  };
  const latest = useRef({ shown, here, at, tell });
  latest.current = { shown, here, at, tell };
  const keys = useMemo(() => {
    const to = (by: number) => (): void => {
      const { shown, at } = latest.current;
      const next = Math.min(shown.length - 1, Math.max(0, Math.min(at, shown.length - 1) + by));
      setAt(next);
      list.current?.children[next]?.scrollIntoView({ block: "nearest" });
    };
    const verdict = (said: string, lesson: boolean) => (): void => {
      const { here, tell } = latest.current;
      if (here && isLesson(here) === lesson) void tell([here], said);
    };
    return [
      { key: "j", does: "next", act: to(1) },
      { key: "k", does: "the one before", act: to(-1) },
      { key: "a", does: "accept a correction", act: verdict("accepted", true) },
      { key: "r", does: "reject a correction", act: verdict("rejected", true) },
      { key: "s", does: "seen, of anything else", act: verdict("seen", false) },
    ];
  }, []);
  useKeys(keys);
  const plain = shown.filter((item) => !isLesson(item) && !item.reviewed);
  const isNarrowed = Object.values(address.query).some(Boolean);
  return (
    <>
      <h1>Inbox</h1>
      <Filters items={items} address={address} />
      <p class="tools">
        <span role="status" class="faint">
          {isNarrowed && `${shown.length} shown. `}
          {waiting} of the last {items.length} want a look
        </span>
        {plain.length > 1 && (
          <button type="button" onClick={() => tell(plain, "seen")}>
            {plain.length === shown.length
              ? `All ${plain.length} are seen`
              : `The ${plain.length} without a correction are seen`}
          </button>
        )}
        <span class="faint">j k move · a accept · r reject · s seen</span>
        {trouble && (
          <span class="bad" role="alert">
            {trouble}
          </span>
        )}
      </p>
      {shown.length === 0 ? (
        <Empty>{waiting === 0 ? "Everything has been looked at." : "Nothing fits."}</Empty>
      ) : (
        <ul class="inbox" ref={list}>
          {shown.map((item, i) => (
            <Item
              key={item.signal.id}
              item={item}
              here={item === here}
              choose={() => setAt(i)}
              review={(verdict) => tell([item], verdict)}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function Filters({
  items,
  address: { query, choose },
}: {
  readonly items: readonly InboxItem[];
  readonly address: InAddress;
}) {
  return (
    <form class="tools filters" onSubmit={(e) => e.preventDefault()}>
      <label>
        Find{" "}
        <input
          type="search"
          placeholder="words of it"
          value={query.text ?? ""}
          onInput={(e) => choose({ text: e.currentTarget.value })}
        />
      </label>
      {facets.map(([name, label, of]) => (
        <label key={name}>
          {label}{" "}
          <select value={query[name] ?? ""} onChange={(e) => choose({ [name]: e.currentTarget.value })}>
            <option value="">any</option>
            {[...new Set(items.flatMap((item) => of(item) ?? []))].sort().map((value) => (
              <option key={value}>{value}</option>
            ))}
          </select>
        </label>
      ))}
      <label>
        Since{" "}
        <select value={query.since ?? ""} onChange={(e) => choose({ since: e.currentTarget.value })}>
          <option value="">any time</option>
          {Object.keys(spans).map((span) => (
            <option key={span} value={span}>
              the last {span}
            </option>
          ))}
        </select>
      </label>
      <label>
        <input
          type="checkbox"
          checked={query.all !== "true"}
          onChange={(e) => choose({ all: e.currentTarget.checked ? undefined : "true" })}
        />{" "}
        Only what wants a look
      </label>
    </form>
  );
}

const isLesson = ({ signal: { kind } }: InboxItem): boolean =>
  kind === "correction" || kind === "demonstration";

const reviewOf = ({ id, about: [about] }: InboxItem["signal"], verdict: string) => ({
  kind: "reaction" as const,
  reaction: verdict,
  channel: "review",
  ...(about?.response ? { response: about.response } : {}),
  ...(about?.session ? { session: about.session } : {}),
  ...(about?.trajectory ? { trajectory: about.trajectory } : {}),
  tags: { signal: id },
});

interface ItemProps {
  readonly item: InboxItem;
  /** Whether the keys are about it. */
  readonly here: boolean;
  readonly choose: () => void;
  readonly review: (verdict: string) => Promise<void>;
}

function Item({ item, here, choose, review }: ItemProps) {
  const { signal: said, reply, reviewed, becomes, disagrees } = item;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys move to it, see above
    <li class={here ? "here" : ""} aria-current={here ? "true" : undefined} onClick={choose}>
      <p>
        <SignalLine signal={said} />
      </p>
      {disagrees && (
        <p class="warn">
          <bdi>{disagrees.with}</bdi> says otherwise: {digits(disagrees.value)}
        </p>
      )}
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
        {isLesson(item) ? (
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
