/** Which session and which trajectory a call belongs to: known by what is said, nothing else. */
import { hash, randomUUID } from "node:crypto";
import type { ServedChoice, ServedResponse } from "../../core/served.ts";
import type { Id, TurnTokens } from "../../core/types.ts";
import { type Path, pathOf, step, stepOnce } from "./path.ts";

/**
 * Why a call begins another trajectory of its session. Retried: the same prompt as before. Branched: it goes on from a reply
 * that something else went on from. Tools: other tools are offered. Edited: it begins alike, and then says something else than
 * was said. Unrelated: another conversation.
 */
export type Cut = "retried" | "branched" | "tools" | "edited" | "unrelated";
export const cuts: readonly Cut[] = ["retried", "branched", "tools", "edited", "unrelated"];

/** Where a response stands. */
export interface Place {
  readonly trajectory: Id;
  readonly turn: number;
  /** Absent: it goes on from a reply, or is the session's first. */
  readonly cut?: Cut;
  /** Whether its prompt's tokens begin with those of the prompt and reply that it goes on from. Absent: not known. */
  readonly prefix?: "kept" | "broken";
}

/** A call whose session is known. */
export interface Opened {
  readonly session: Id;
  readonly path: Path;
  readonly underway: Underway;
}

/** A call from its beginning to its place. */
interface Underway {
  /** The conversation that it goes on from, where that alone says which session it is of. */
  readonly from: string | undefined;
  readonly user: Id | undefined;
  begun: boolean;
}

/** Whose call it was, and when it ended, in milliseconds since 1970. */
export interface Ended {
  readonly user?: Id;
  readonly at: number;
}

/** A prompt and one reply to it. */
interface Head {
  readonly trajectory: number;
  readonly turn: number;
  readonly tools: string;
  /** Nothing has gone on from it yet. */
  open: boolean;
  readonly tokens?: { readonly length: number; readonly digest: string };
}

interface Session {
  readonly id: Id;
  readonly user: Id | undefined;
  /** Milliseconds since 1970 at which it was last heard of. */
  heard: number;
  /** Trajectories so far. */
  trajectories: number;
  readonly heads: Map<string, Head>;
  /** Whole prompts, and beginnings of conversations. */
  readonly prompts: Set<string>;
  readonly roots: Set<string>;
  readonly cuts: Map<Cut, number>;
  broken: number;
}

export interface SessionState {
  readonly id: Id;
  readonly trajectories: number;
  readonly cuts: Partial<Record<Cut, number>>;
  /** Turns whose prompt's tokens did not begin with those of before. */
  readonly brokenPrefixes: number;
}

/** Settings of {@link sessionTable}. */
export interface SessionOptions {
  /**
   * Replies remembered, over all sessions; the sessions longest silent are forgotten first. Default 100,000: some 40 MB in
   * long sessions, some 160 MB where each is a session's only one.
   */
  readonly most?: number;
  /** Replies remembered of one session, the last ones. Default 256. */
  readonly mostOfOne?: number;
  /** Milliseconds of silence after which a session is forgotten. Default one hour. */
  readonly silence?: number;
}

export interface SessionTable {
  /**
   * The session of a call: the one that is named, else that of the reply which the prompt goes on from, else a new one. Where
   * several conversations are alike to the last word, it is the latest of those that no other call goes on from: each goes on once.
   * @param user conversations of different users are never one.
   */
  open(call: { readonly session?: Id; readonly user?: Id; readonly path: Path }): Opened;
  /** The call is made. Until it is placed or abandoned, others know of it. */
  begin(call: Opened): void;
  /** It gets no place. */
  abandon(call: Opened): void;
  /** Whether it is remembered; if not, hand what is stored of it to {@link remember}. */
  knows(session: Id): boolean;
  /** Whose session it is: of who called first, also where that call failed. Nothing where nobody is known to have called. */
  ownerOf(session: Id): { readonly user?: Id | undefined } | undefined;
  /**
   * Where an answered call stands, which is remembered. Where there is no answer, it says where one would have stood.
   * Calls are placed in the order of their ends: a reply is placed before anything can go on from it.
   */
  place(call: Opened & Ended, choices: readonly ServedChoice[]): Place;
  /** A response that is stored already; a session's own in the order of their times. */
  remember(response: ServedResponse): Promise<void>;
  state(session: Id): SessionState | undefined;
  readonly size: number;
}

/** Sessions without an answer whose first caller is remembered; of the others the store knows. */
const mostCallers = 10_000;

export function sessionTable(options: SessionOptions = {}): SessionTable {
  const { most = 100_000, mostOfOne = 256, silence = 3_600_000 } = options;
  const table = new Map<Id, Session>();
  /** Sessions by the conversations that can go on: mostly one; of several that are alike, the latest last. */
  const conversations = new Map<string, Id | Set<Id>>();
  /** Calls that go on from a conversation of a session. */
  const goingOn = new Map<string, number>();
  /** Sessions of calls under way, each with who called first. */
  const running = new Map<Id, { readonly user: Id | undefined; calls: number }>();
  /** Who called first in sessions in which nobody was answered then: the latest of them. */
  const firstCallers = new Map<Id, Pick<Ended, "user">>();
  let replies = 0;

  function noteCaller(id: Id, user: Id | undefined): void {
    if (table.has(id) || firstCallers.has(id)) return;
    firstCallers.set(id, user === undefined ? {} : { user });
    if (firstCallers.size > mostCallers)
      for (const oldest of firstCallers.keys()) return void firstCallers.delete(oldest);
  }

  /** The session, now the last active one. */
  function touch(id: Id, user: Id | undefined, at: number): Session {
    const session = table.get(id) ?? begun(id, user);
    session.heard = at;
    table.delete(id);
    table.set(id, session);
    return session;
  }

  function link(digest: string, { id, user }: Session): void {
    const key = scoped(digest, user);
    const alike = conversations.get(key);
    if (alike === undefined) conversations.set(key, id);
    else if (alike instanceof Set) alike.add(id);
    else if (alike !== id) conversations.set(key, new Set([alike, id]));
  }

  function unlink(digest: string, { id, user }: Session): void {
    const key = scoped(digest, user);
    const alike = conversations.get(key);
    if (alike === id || (alike instanceof Set && alike.delete(id) && alike.size === 0)) {
      conversations.delete(key);
    }
  }

  /** The latest session of a conversation that no call goes on from, else the latest. */
  function sessionOf(conversation: string): Id | undefined {
    const alike = conversations.get(conversation);
    if (!(alike instanceof Set)) return alike;
    const ids = [...alike];
    return ids.findLast((id) => !goingOn.has(`${conversation}\n${id}`)) ?? ids.at(-1);
  }

  function drop(digest: string, session: Session): void {
    session.heads.delete(digest);
    unlink(digest, session);
    replies--;
  }

  function commit(session: Session, path: Path, at: Head, choices: readonly ServedChoice[]): void {
    const asked = path.upTo.at(-1) ?? "";
    remembered(session.prompts, asked, mostOfOne);
    remembered(session.roots, path.root, mostOfOne);
    for (const { message, tokens } of choices) {
      const digest = step(asked, message);
      if (!session.heads.has(digest)) replies++;
      session.heads.set(digest, { ...at, ...(tokens ? { tokens: digestOf(tokens) } : {}) });
      link(digest, session);
    }
    for (const digest of session.heads.keys()) {
      if (session.heads.size <= mostOfOne) break;
      drop(digest, session);
    }
    for (const oldest of table.values()) {
      const silent = session.heard - oldest.heard > silence;
      if (oldest === session || (replies <= most && !silent)) break;
      for (const digest of oldest.heads.keys()) drop(digest, oldest);
      table.delete(oldest.id);
    }
  }

  /** It is under way no more. */
  function abandon({ session, underway }: Pick<Opened, "session" | "underway">): void {
    if (!underway.begun) return;
    underway.begun = false;
    if (underway.from !== undefined) {
      const place = `${underway.from}\n${session}`;
      const others = (goingOn.get(place) ?? 0) - 1;
      if (others > 0) goingOn.set(place, others);
      else goingOn.delete(place);
    }
    const first = running.get(session);
    if (first && --first.calls === 0) running.delete(session);
  }

  /** All replies to its prompt are gone on from at once. */
  function close(session: Session, { trajectory, turn }: Pick<Head, "trajectory" | "turn">): void {
    for (const [digest, head] of session.heads) {
      if (head.trajectory !== trajectory || head.turn !== turn) continue;
      head.open = false;
      unlink(digest, session);
    }
  }

  return {
    open({ session, user, path }) {
      const underway = { from: undefined, user, begun: false };
      if (session !== undefined) return { session, path, underway };
      const known = path.upTo.findLast((digest) => conversations.has(scoped(digest, user)));
      const from = known === undefined ? undefined : scoped(known, user);
      const id = from === undefined ? undefined : sessionOf(from);
      return { session: id ?? `s_${randomUUID()}`, path, underway: { ...underway, from } };
    },

    begin({ session, underway }) {
      underway.begun = true;
      if (underway.from !== undefined) {
        const place = `${underway.from}\n${session}`;
        goingOn.set(place, (goingOn.get(place) ?? 0) + 1);
      }
      const first = running.get(session) ?? { user: underway.user, calls: 0 };
      first.calls++;
      running.set(session, first);
    },

    abandon,

    knows: (session) => table.has(session),

    ownerOf: (session) => firstCallers.get(session) ?? table.get(session) ?? running.get(session),

    place({ session: id, path, underway, user, at }, choices) {
      // of what nobody answered no more is kept than whose it was: else an upstream that is down would fill the memory
      if (choices.length === 0) noteCaller(id, (running.get(id) ?? { user }).user);
      abandon({ session: id, underway });
      const kept = choices.length > 0 || table.has(id);
      const session = kept ? touch(id, user, at) : begun(id, user);
      const found = path.upTo.findLast((digest) => session.heads.has(digest));
      const head = found === undefined ? undefined : session.heads.get(found);
      const goesOn = head?.open === true && head.tools === path.tools;
      const cut = goesOn || session.trajectories === 0 ? undefined : whyCut(session, path, head);
      const trajectory = goesOn ? head.trajectory : session.trajectories;
      const turn = goesOn ? head.turn + 1 : 0;
      const prefix = goesOn ? prefixOf(head, choices) : undefined;
      if (choices.length > 0) {
        if (goesOn) close(session, head);
        else session.trajectories++;
        if (cut) session.cuts.set(cut, (session.cuts.get(cut) ?? 0) + 1);
        if (prefix === "broken") session.broken++;
        commit(session, path, { trajectory, turn, tools: path.tools, open: true }, choices);
      }
      return {
        trajectory: `${id}/${trajectory}`,
        turn,
        ...(cut ? { cut } : {}),
        ...(prefix ? { prefix } : {}),
      };
    },

    async remember({ session: id, trajectory: name, turn, prompt, choices, user, tags, at }) {
      const trajectory = Number(name.slice(name.lastIndexOf("/") + 1));
      if (choices.length === 0) noteCaller(id, user);
      if (choices.length === 0 || !Number.isSafeInteger(trajectory)) return;
      const path = await pathOf(prompt, stepOnce);
      const session = touch(id, user, at);
      close(session, { trajectory, turn: turn - 1 });
      session.trajectories = Math.max(session.trajectories, trajectory + 1);
      const cut = cuts.find((c) => c === tags[cutTag]);
      if (cut) session.cuts.set(cut, (session.cuts.get(cut) ?? 0) + 1);
      if (tags[prefixTag] === "broken") session.broken++;
      commit(session, path, { trajectory, turn, tools: path.tools, open: true }, choices);
    },

    state(id) {
      const session = table.get(id);
      return session && stateOf(session);
    },
    get size() {
      return table.size;
    },
  };
}

/** Names of the tags that say in a record how it was placed. */
export const cutTag = "whetstone.cut";
export const prefixTag = "whetstone.prefix";

const begun = (id: Id, user: Id | undefined): Session => ({
  id,
  user,
  heard: 0,
  trajectories: 0,
  heads: new Map(),
  prompts: new Set(),
  roots: new Set(),
  cuts: new Map(),
  broken: 0,
});

const stateOf = ({ id, trajectories, cuts, broken }: Session): SessionState => ({
  id,
  trajectories,
  cuts: Object.fromEntries(cuts),
  brokenPrefixes: broken,
});

const scoped = (digest: string, user: Id | undefined): string => `${user ?? ""}\n${digest}`;

/** Adds to a set that keeps its last `most`. */
function remembered(set: Set<string>, entry: string, most: number): void {
  set.delete(entry);
  set.add(entry);
  if (set.size > most) for (const first of set) return void set.delete(first);
}

function whyCut(session: Session, path: Path, head: Head | undefined): Cut {
  if (session.prompts.has(path.upTo.at(-1) ?? "")) return "retried";
  if (head) return head.tools === path.tools ? "branched" : "tools";
  return session.roots.has(path.root) ? "edited" : "unrelated";
}

function digestOf({ prompt, action }: TurnTokens): NonNullable<Head["tokens"]> {
  const all = new Int32Array(prompt.length + action.length);
  all.set(prompt);
  all.set(action, prompt.length);
  return { length: all.length, digest: digestOfIds(all) };
}

const digestOfIds = (ids: Int32Array): string =>
  hash("sha1", new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength), "base64");

function prefixOf({ tokens }: Head, [first]: readonly ServedChoice[]): Place["prefix"] {
  const prompt = first?.tokens?.prompt;
  if (!tokens || !prompt) return undefined;
  if (prompt.length < tokens.length) return "broken";
  return digestOfIds(prompt.subarray(0, tokens.length)) === tokens.digest ? "kept" : "broken";
}
