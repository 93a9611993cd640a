/** What the production loop asks of a store: acknowledged means on disk, whichever database stands behind it. */
import type { AccessKey, ReceivedSignal, ServedResponse, Split, Version } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { ArtefactStore } from "./artefacts.ts";

/** One entry of a batch that is written in one transaction. */
export type Write =
  | { readonly kind: "response"; readonly response: ServedResponse }
  | { readonly kind: "signal"; readonly signal: ReceivedSignal };

/** Of a signal: where its key was known already, the id of the first one, and nothing was written. */
export interface Written {
  readonly id: Id;
  readonly duplicate: boolean;
}

export interface ResponseFilter {
  readonly session?: Id;
  readonly user?: Id;
  readonly trajectory?: Id;
  readonly version?: Id;
  readonly split?: Id;
  /** Milliseconds since 1970, half-open. */
  readonly from?: number;
  readonly until?: number;
}

export interface SignalFilter {
  readonly session?: Id;
  readonly response?: Id;
  readonly user?: Id;
  readonly channel?: string;
  readonly kind?: ReceivedSignal["kind"];
  /** By time of arrival, half-open. */
  readonly from?: number;
  readonly until?: number;
}

export interface SessionSummary {
  readonly id: Id;
  readonly user?: Id;
  readonly first: number;
  readonly last: number;
  readonly responses: number;
  readonly trajectories: number;
  readonly signals: number;
}

/** Whose data is to go: a user's, a session's, or everything older than a time. */
export type Erase =
  | { readonly user: Id }
  | { readonly session: Id }
  /** Milliseconds since 1970. */
  | { readonly before: number };

/** What went, and the proof: a search of all that is left after the erasure. */
export interface Erasure {
  readonly id: Id;
  readonly at: number;
  readonly what: Erase;
  readonly responses: number;
  readonly signals: number;
  /** Files of training data that were written again without it. */
  readonly exports: readonly { readonly file: string; readonly rowsRemoved: number }[];
  /** Entries of collections (see `openShelf`) that were made from it. */
  readonly entries: number;
  /** Parts of artefacts that were made from it, by the folder that held them; those of the store itself under "". */
  readonly artefacts: readonly { readonly folder: string; readonly partsRemoved: number }[];
  /** Hits of a search for the erased ids in tables, log, exported files and folders of artefacts afterwards; all 0, else the erasure failed. */
  readonly found: { readonly rows: number; readonly bytes: number; readonly exports: number };
  /** Where it may go on, out of the store's reach: backups, a server's log… */
  readonly unseen: readonly string[];
}

/** A file of training data, and which responses and signals each of its rows was made from. */
export interface ExportRecord {
  readonly id: Id;
  readonly file: string;
  readonly format: string;
  readonly at: number;
  /** By row: the sessions, and users where known, that it came from. */
  readonly rows: readonly { readonly sessions: readonly Id[]; readonly users: readonly Id[] }[];
}

/** Served traffic, feedback, versions, splits and keys. Made by `openProduction` on SQLite or PostgreSQL. */
export interface Production {
  /** The file, or the connection URL without its password. */
  readonly where: string;
  /** Does what the first write would have to wait for, such as reading its code or connecting: for who is about to serve. */
  ready(): Promise<void>;
  /**
   * All of it in one transaction, on disk once the promise resolves.
   * @throws WhetstoneError `store.full` where there is no room, `store.failed` otherwise; nothing of it is written then.
   */
  write(batch: readonly Write[]): Promise<readonly Written[]>;

  response(id: Id): Promise<ServedResponse | undefined>;
  /** By time, oldest first. Read in pages: as many as there are fit into no memory. */
  responses(filter?: ResponseFilter): AsyncIterable<ServedResponse>;
  /** By arrival, oldest first. */
  signals(filter?: SignalFilter): AsyncIterable<ReceivedSignal>;
  /** The last active first. */
  sessions(page?: { readonly limit?: number; readonly offset?: number }): Promise<readonly SessionSummary[]>;

  addVersion(version: Version): Promise<void>;
  versions(): Promise<readonly Version[]>;
  addSplit(split: Split): Promise<void>;
  /** Oldest first: the last one counts. */
  splits(): Promise<readonly Split[]>;

  /** Adds it, or replaces the one with its id (revocation, expiry). */
  putKey(key: AccessKey): Promise<void>;
  keys(): Promise<readonly AccessKey[]>;

  /** Adds it, or replaces the one with its id: what a file held before counts no more. */
  addExport(record: ExportRecord): Promise<void>;
  exports(): Promise<readonly ExportRecord[]>;
  readonly artefacts: ArtefactStore;
  /** Gone from tables, free pages, log, exported files and artefacts when the promise resolves; later signals about it are refused. */
  erase(what: Erase): Promise<Erasure>;
  erasures(): Promise<readonly Erasure[]>;

  close(): Promise<void>;
}

/** Gathers what comes at once into transactions: acknowledged signals durably, traffic within a stated time. */
export interface Recorder {
  /**
   * On disk once the promise resolves.
   * @throws WhetstoneError `store.full`, `store.failed`: the signal was not taken, and may be sent again.
   */
  receive(signal: ReceivedSignal): Promise<Written>;
  /**
   * A list that belongs together: all of it in one transaction, in the order given, on disk once the promise resolves.
   * @throws WhetstoneError `store.full`, `store.failed`: none of it was taken, and all may be sent again.
   */
  receiveAll(signals: readonly ReceivedSignal[]): Promise<readonly Written[]>;
  /** Taken; on disk within the recorder's delay (at most 100 ms). What is lost before that, or refused, is counted. */
  record(response: ServedResponse): void;
  /** On disk once the promise resolves. */
  recordDurably(response: ServedResponse): Promise<void>;
  /** All that was taken so far has been tried: it is on disk, or waits on while the store fails. */
  tried(): Promise<void>;
  /**
   * Where what was taken waits longer than it should, as on a core that is full: resolves once it has been tried. Whoever would
   * make more of it waits for that, so that whoever writes gets the core. Not while the store fails.
   */
  late(): Promise<void> | undefined;
  /** The end: all that was taken so far is on disk, or counted as lost. */
  flush(): Promise<void>;
  state(): RecorderState;
  close(): Promise<void>;
}

export interface RecorderState {
  /** Taken and not on disk yet. */
  readonly pending: number;
  readonly recorded: number;
  /** Responses that were not written: full disk, failing store, or a queue that was full. */
  readonly lost: number;
  /** Why nothing can be written at the moment. */
  readonly failing?: "full" | "failed";
}
