/** The store of the production loop. Acknowledged data is on disk, with either database. */
import type {
  AccessKey,
  ModelPrice,
  ReceivedSignal,
  ResponseHead,
  ServedResponse,
  TracedCall,
  TrafficSplit,
  Version,
} from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { ArtefactStore } from "./artefacts.ts";

/** One entry of a batch; a batch is written in one transaction. */
export type Write =
  | { readonly kind: "response"; readonly response: ServedResponse }
  | { readonly kind: "signal"; readonly signal: ReceivedSignal }
  | { readonly kind: "traced"; readonly call: TracedCall };

/** Result of writing a signal. If its key was known, `id` is that of the first signal, and nothing was written. */
export interface Written {
  readonly id: Id;
  readonly duplicate: boolean;
}

/** Selects responses; all given fields must match. */
export interface ResponseFilter {
  readonly id?: Id;
  readonly session?: Id;
  readonly user?: Id;
  readonly trajectory?: Id;
  readonly version?: Id;
  readonly split?: Id;
  /** Milliseconds since 1970, half-open. */
  readonly from?: number;
  readonly until?: number;
}

/** Selects signals; all given fields must match. */
export interface SignalFilter {
  readonly session?: Id;
  /** With a session: only signals about it as a whole, or about these parts of it. Of a long one they are found sooner. */
  readonly parts?: { readonly responses: readonly Id[]; readonly trajectories: readonly Id[] };
  readonly response?: Id;
  readonly user?: Id;
  readonly channel?: string;
  readonly kind?: ReceivedSignal["kind"];
  /** Arrival time, milliseconds since 1970, half-open. */
  readonly from?: number;
  readonly until?: number;
}

/** Selects calls of tools and retrievals; all given fields must match. */
export interface TracedFilter {
  readonly session?: Id;
  readonly user?: Id;
}

/** Selects sessions: those with at least one response that matches. */
export interface SessionFilter extends ResponseFilter {
  /** Only sessions with at least one signal of these kinds, and on this channel. Default: any kind, any channel. */
  readonly withSignal?: {
    readonly kinds?: readonly ReceivedSignal["kind"][];
    readonly channel?: string;
  };
  /** Only signals that arrived before this time, in milliseconds since 1970. Default: all. */
  readonly receivedUntil?: number;
}

/** A session with all its responses and all signals on them. */
export interface CompleteSession {
  readonly id: Id;
  /** By time. */
  readonly responses: readonly ServedResponse[];
  /** By arrival. A signal on several sessions is with each of them. */
  readonly signals: readonly ReceivedSignal[];
  /** Ids of the responses that match the filter. */
  readonly matching: ReadonlySet<Id>;
}

/**
 * A session with its counts. `first` and `last` are the times of its responses, or of its traced calls where it has no
 * response, in milliseconds since 1970.
 */
export interface SessionSummary {
  readonly id: Id;
  readonly user?: Id;
  readonly first: number;
  readonly last: number;
  readonly responses: number;
  readonly trajectories: number;
  readonly signals: number;
  /** Responses without an answer. */
  readonly failed: number;
  /** Milliseconds until the last byte of an answer, mean over its responses; 0 without any. */
  readonly ms: number;
}

/** Selects sessions; all given fields must match. */
export interface SessionSearch {
  /** Most sessions. Default 100. */
  readonly limit?: number;
  readonly offset?: number;
  /** Stands in the id, the user or a message of one of its responses, or of its traced calls where it has no response. */
  readonly text?: string;
  /** Only those with a response without an answer. */
  readonly failed?: boolean;
}

/** What to erase: a user's data, a session's data, or everything older than a time. */
export type Erase =
  | { readonly user: Id }
  | { readonly session: Id }
  /** Milliseconds since 1970. */
  | { readonly before: number };

/** Receipt of an erasure: what was erased, and the result of a search for remains. */
export interface Erasure {
  readonly id: Id;
  readonly at: number;
  readonly what: Erase;
  readonly responses: number;
  /** Responses among them that name another user, where a user was erased: sessions go whole. */
  readonly others?: number;
  readonly signals: number;
  /** Calls of tools and retrievals that tracers reported. */
  readonly traced: number;
  /** Exported training data files that were rewritten without it. */
  readonly exports: readonly { readonly file: string; readonly rowsRemoved: number }[];
  /** Entries of collections (see `openEntryStore`) that were made from it. */
  readonly entries: number;
  /** Parts of artefacts that were made from it, by the folder that held them; those of the store itself under "". */
  readonly artefacts: readonly { readonly folder: string; readonly partsRemoved: number }[];
  /** Hits of a search for the erased ids in tables, log, exported files and artefact folders afterwards. All must be 0; otherwise the erasure failed. */
  readonly found: { readonly rows: number; readonly bytes: number; readonly exports: number };
  /** Places outside the store's reach where the data may remain: backups, a server's log… */
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

/** Served traffic, feedback, versions, splits and keys. Made by `openTrafficStore` on SQLite or PostgreSQL. */
export interface TrafficStore {
  /** The file, or the connection URL without its password. */
  readonly where: string;
  /** Prepares the first write, such as loading code or connecting. Servers call it before they accept traffic. */
  ready(): Promise<void>;
  /**
   * Writes the batch in one transaction; it is on disk once the promise resolves.
   * @throws WhetstoneError `store.full` if there is no room, `store.failed` otherwise; nothing is written then.
   */
  write(batch: readonly Write[]): Promise<readonly Written[]>;

  response(id: Id): Promise<ServedResponse | undefined>;
  /** Responses by time, oldest first. Read in pages, since they may not fit into memory. */
  responses(filter?: ResponseFilter): AsyncIterable<ServedResponse>;
  /** Of the first responses of a session by time, what lists and sums say of each: none of its texts is read. */
  heads(session: Id, most: number): Promise<readonly ResponseHead[]>;
  /** Signals by arrival, oldest first. */
  signals(filter?: SignalFilter): AsyncIterable<ReceivedSignal>;
  /** Calls of tools and retrievals that tracers reported, by time, oldest first. */
  traced(filter?: TracedFilter): AsyncIterable<TracedCall>;
  /** Sessions with a response or a traced call, most recently active first. */
  sessions(search?: SessionSearch): Promise<readonly SessionSummary[]>;

  /** Sessions with at least one matching response, complete, in the order of their first matching response. Read in pages. */
  completeSessions(filter?: SessionFilter): AsyncIterable<CompleteSession>;

  addVersion(version: Version): Promise<void>;
  versions(): Promise<readonly Version[]>;
  addSplit(split: TrafficSplit): Promise<void>;
  /** Oldest first; the last one is the current split. */
  splits(): Promise<readonly TrafficSplit[]>;

  /** Adds a key, or replaces the one with its id (revocation, expiry). */
  putKey(key: AccessKey): Promise<void>;
  keys(): Promise<readonly AccessKey[]>;

  /** Adds a price, or replaces that of the same name. */
  putPrice(price: ModelPrice): Promise<void>;
  /** Prices of models, those that were removed as well. */
  prices(): Promise<readonly ModelPrice[]>;

  /** Adds a record, or replaces the one with its id, since the file was rewritten. */
  addExport(record: ExportRecord): Promise<void>;
  exports(): Promise<readonly ExportRecord[]>;
  readonly artefacts: ArtefactStore;
  /** Erases data from tables, free pages, log, exported files and artefacts before the promise resolves; later signals about it are refused. */
  erase(what: Erase): Promise<Erasure>;
  erasures(): Promise<readonly Erasure[]>;

  close(): Promise<void>;
}

/** Group commit: batches writes into transactions. Signals are durable when acknowledged, traffic within a fixed delay. */
export interface Recorder {
  /**
   * Writes a signal; it is on disk once the promise resolves.
   * @throws WhetstoneError `store.full`, `store.failed`: the signal was not stored, and may be sent again.
   */
  receive(signal: ReceivedSignal): Promise<Written>;
  /**
   * Writes a list in one transaction, in the order given; it is on disk once the promise resolves.
   * @throws WhetstoneError `store.full`, `store.failed`: nothing was stored, and all may be sent again.
   */
  receiveAll(signals: readonly ReceivedSignal[]): Promise<readonly Written[]>;
  /** Queues a response; it is on disk within the recorder's delay (at most 100 ms). Lost and refused responses are counted. */
  record(response: ServedResponse): void;
  /** Queues a call that was passed on, as `record` does a response. */
  recordPassed(call: TracedCall): void;
  /** Writes a response; it is on disk once the promise resolves. */
  recordDurably(response: ServedResponse): Promise<void>;
  /** Resolves once a write of everything queued so far was attempted: it is on disk, or still waits because the store fails. */
  tried(): Promise<void>;
  /**
   * Backpressure: if queued traffic waits longer than it should, as on a saturated core, returns a promise that resolves once its
   * write was attempted. Producers await it, so that the writer gets the core. Returns nothing while the store fails.
   */
  late(): Promise<void> | undefined;
  /** Resolves once everything queued so far is on disk or counted as lost. */
  flush(): Promise<void>;
  state(): RecorderState;
  close(): Promise<void>;
}

/** Counters of a recorder. */
export interface RecorderState {
  /** Queued and not on disk yet. */
  readonly pending: number;
  readonly recorded: number;
  /** Responses that were not written, because of a full disk, a failing store or a full queue. */
  readonly lost: number;
  /** Why nothing can be written at the moment. */
  readonly failing?: "full" | "failed";
}
