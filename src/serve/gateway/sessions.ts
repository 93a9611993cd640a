/** Assigns calls to sessions and trajectories, by comparing their messages. */
import { hash, randomUUID } from "node:crypto";
import type { ServedChoice, ServedResponse } from "../../core/served.ts";
import type { Id, TurnTokens } from "../../core/types.ts";
import { type Path, pathOf, step, stepOnce } from "./path.ts";
import { conversationIndex, type UnplacedCall, unplacedCalls } from "./underway.ts";

/**
 * Why a call begins a new trajectory of its session. Retried: the same prompt as before. Branched: it continues a reply that
 * another call already continued. Tools: it offers other tools. Edited: it begins like an earlier conversation and then differs
 * from it. Unrelated: another conversation.
 */
export type Cut = "retried" | "branched" | "tools" | "edited" | "unrelated";
export const cuts: readonly Cut[] = ["retried", "branched", "tools", "edited", "unrelated"];

/** The place of a response in its session. */
export interface Place {
  readonly trajectory: Id;
  readonly turn: number;
  /** Absent: it continues a reply, or is the session's first. */
  readonly cut?: Cut;
  /** Whether its prompt's tokens begin with those of the prompt and reply that it continues. Absent: not known. */
  readonly prefix?: "kept" | "broken";
}

/** A call whose session is known. */
export interface Opened {
  readonly session: Id;
  readonly path: Path;
  readonly underway: UnplacedCall;
}

/** The user of a call, and when it ended, in milliseconds since 1970. */
export interface Ended {
  readonly user?: Id;
  readonly at: number;
}

/** A prompt and one reply to it. */
interface Head {
  readonly trajectory: number;
  readonly turn: number;
  readonly tools: string;
  /** Whether no call has continued it yet. */
  open: boolean;
  readonly tokens?: { readonly length: number; readonly digest: string };
}

interface Session {
  readonly id: Id;
  readonly user: Id | undefined;
  /** Time of its last call, milliseconds since 1970. */
  heard: number;
  /** Number of trajectories so far. */
  trajectories: number;
  readonly heads: Map<string, Head>;
  /** Digests of whole prompts, and of the beginnings of conversations. */
  readonly prompts: Set<string>;
  readonly roots: Set<string>;
  readonly cuts: Map<Cut, number>;
  broken: number;
}

export interface SessionState {
  readonly id: Id;
  readonly trajectories: number;
  readonly cuts: Partial<Record<Cut, number>>;
  /** Number of turns whose prompt tokens did not begin with those of the previous turn. */
  readonly brokenPrefixes: number;
}

/** Settings of {@link sessionTable}. */
export interface SessionOptions {
  /**
   * Most replies remembered over all sessions; the least recently active sessions are forgotten first. Default 100,000: about
   * 40 MB in long sessions, about 160 MB in sessions of one reply.
   */
  readonly most?: number;
  /** Most replies remembered per session, the last ones. Default 256. */
  readonly mostOfOne?: number;
  /** Milliseconds of inactivity after which a session is forgotten. Default one hour. */
  readonly silence?: number;
}

/** Recent sessions in memory, and the place of each call in them. */
export interface SessionTable {
  /**
   * The session of a call: the named one, otherwise that of the reply which the prompt continues, otherwise a new one. Of several
   * identical conversations, it is the latest that no other call continues: each is continued once.
   * @param user conversations of different users are never matched.
   */
  open(call: { readonly session?: Id; readonly user?: Id; readonly path: Path }): Opened;
  /** Registers a running call. Other calls take it into account until it is placed or abandoned. */
  begin(call: Opened): void;
  /** Ends a call without a place. */
  abandon(call: Opened): void;
  /** Whether the session is in memory; if not, pass its stored responses to {@link remember}. */
  knows(session: Id): boolean;
  /** The owner of a session: the user of its first call, even if that call failed. Nothing if no call is known. */
  ownerOf(session: Id): { readonly user?: Id | undefined } | undefined;
  /**
   * Places an ended call and remembers its replies. Without replies, returns the place that a reply would have had.
   * Calls are placed in the order in which they end, so a reply is placed before any call can continue it.
   */
  place(call: Opened & Ended, choices: readonly ServedChoice[]): Place;
  /** Adds a stored response. Responses of one session must come in the order of their times. */
  remember(response: ServedResponse): Promise<void>;
  state(session: Id): SessionState | undefined;
  readonly size: number;
}

/** Most sessions without a response whose first caller is remembered; the store knows the callers of all others. */
const mostCallers = 10_000;

/** Creates an empty session table. */
export function sessionTable(options: SessionOptions = {}): SessionTable {
  const { most = 100_000, mostOfOne = 256, silence = 3_600_000 } = options;
  const table = new Map<Id, Session>();
  const conversations = conversationIndex();
  const running = unplacedCalls();
  /** First callers of sessions whose first call got no response; the most recent sessions only. */
  const firstCallers = new Map<Id, Pick<Ended, "user">>();
  let replies = 0;

  function noteCaller(id: Id, user: Id | undefined): void {
    if (table.has(id) || firstCallers.has(id)) return;
    firstCallers.set(id, user === undefined ? {} : { user });
    if (firstCallers.size > mostCallers)
      for (const oldest of firstCallers.keys()) return void firstCallers.delete(oldest);
  }

  /** The session, moved to the most recently active position. */
  function touch(id: Id, user: Id | undefined, at: number): Session {
    const session = table.get(id) ?? begun(id, user);
    session.heard = at;
    table.delete(id);
    table.set(id, session);
    return session;
  }

  function drop(digest: string, session: Session): void {
    session.heads.delete(digest);
    conversations.unlink(scoped(digest, session.user), session.id);
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
      conversations.link(scoped(digest, session.user), session.id);
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

  /** Marks all replies to the same prompt as continued. */
  function close(session: Session, { trajectory, turn }: Pick<Head, "trajectory" | "turn">): void {
    for (const [digest, head] of session.heads) {
      if (head.trajectory !== trajectory || head.turn !== turn) continue;
      head.open = false;
      conversations.unlink(scoped(digest, session.user), session.id);
    }
  }

  return {
    open({ session, user, path }) {
      const underway = { from: undefined, user, begun: false };
      if (session !== undefined) return { session, path, underway };
      const known = path.upTo.findLast((digest) => conversations.has(scoped(digest, user)));
      const from = known === undefined ? undefined : scoped(known, user);
      const isTaken = (id: Id): boolean => from !== undefined && running.continues(from, id);
      const id = from === undefined ? undefined : conversations.latest(from, isTaken);
      return { session: id ?? `s_${randomUUID()}`, path, underway: { ...underway, from } };
    },

    begin: running.begin,

    abandon: running.end,

    knows: (session) => table.has(session),

    ownerOf: (session) => firstCallers.get(session) ?? table.get(session) ?? running.firstOf(session),

    place({ session: id, path, underway, user, at }, choices) {
      // of calls without a response keep the user only: otherwise an upstream that is down would fill the memory
      if (choices.length === 0) noteCaller(id, (running.firstOf(id) ?? { user }).user);
      running.end({ session: id, underway });
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

/** Names of the tags of a record that tell how it was placed. */
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
