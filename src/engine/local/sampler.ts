/**
 * Continuous batching: a batch of rows decodes token by token, a finished reply leaves at once, and the prompts of
 * new requests are prefilled and take the free slots. A request's result depends on its prompt, its options, its seed
 * and the weights alone, bit for bit (see batchSizes.ts). With a prefix cache, prompts are read in pieces instead, in turn,
 * so that a long one does not hold up the others; what was read before is not read again, and results agree up to rounding.
 */
import type { Codec, Sample } from "../../core/model.ts";
import { mostRows, prefillRows, promptPlaces } from "./batchSizes.ts";
import type { DecoderConfig } from "./config.ts";
import type { Handle, LocalRequest } from "./protocol.ts";
import type { PieceReadings, PromptInPieces, Readings } from "./readings.ts";
import { advance, attempt, type Call, fail, openRow, type Row, type Watch } from "./samplingRow.ts";

export interface SamplerParts {
  readonly config: DecoderConfig;
  /** The models that read the rows. */
  readonly models: Readings;
  readonly codec: Pick<Codec, "padId" | "endId" | "decode">;
  readonly version: string;
}

export interface Sampler {
  /**
   * Adds requests; `step` works on them. Resolves when all of them are finished.
   * @throws WhetstoneError `option.range`, `context.tooLong`, `tokenizer.unknownToken` before anything is sampled.
   */
  sample(requests: readonly LocalRequest[], watch?: Watch): Promise<Sample[]>;
  /** Ends the call that is watched so: it rejects, and its rows leave before the next token. */
  cancel(watch: number): void;
  /** Whether any request is unfinished. */
  readonly busy: boolean;
  /** Whether an unfinished request mixes that model in. */
  mixesIn(of: Handle): boolean;
  /** Prefills waiting prompts when that is efficient, and samples the next token of every row. Never throws. */
  step(): Promise<void>;
  /** Gives back its memory, once it is not busy. */
  close(): void;
}

/** Prefilling few prompts costs nearly as much as many: new requests wait at most this many steps to be batched … */
const patience = 8;
/** … or until this many of them wait, or a quarter as many as are running. */
const company = 8;

export function sampler(parts: SamplerParts): Sampler {
  const { config, codec, version, models } = parts;
  let waiting: Row[] = [];
  /** Prompts that are read in pieces; the next one first. */
  const reading: PromptInPieces[] = [];
  let rows: Row[] = [];
  /** Steps since the oldest waiting request arrived. */
  let waited = 0;

  function open(request: LocalRequest, call: Call, at: number): Row {
    const row = openRow(request, call, at, config, codec);
    if (request.mix) models.mixIn(request.mix.of);
    return row;
  }

  /** Gives a row its next token from row r of the scores. @returns whether the row continues. */
  const goesOn = (row: Row, r: number): boolean =>
    attempt(row, () => !row.call.failed && advance(row, models.scoresOf(row, r), version));

  /** Whether an unfinished request mixes that model in. */
  const mixesIn = (of: Handle): boolean =>
    [...waiting, ...rows].some((row) => row.request.mix?.of === of && !row.call.failed);

  /** Prefills prompts of one padded length, equal ones once, and gives their rows a first token and a slot. */
  async function read(prompts: readonly (readonly Row[])[], T: number, B: number): Promise<void> {
    const place = await models.prefill(prompts, T, B);
    const joining = prompts.flatMap((same, b) =>
      same.filter((row) => goesOn(row, b)).map((row) => ({ row, b })),
    );
    rows = [...rows, ...joining.map(({ row }) => row)];
    await place(rows, joining);
  }

  /** Moves waiting requests into the free slots. */
  async function admit(): Promise<void> {
    const joining = waiting.splice(0, mostRows - rows.length).filter((row) => !row.call.failed);
    waited = 0;
    try {
      const prompts = [...Map.groupBy(joining, (row) => row.request.prompt.join()).values()];
      const byLength = Map.groupBy(prompts, (same) => promptPlaces(same[0]!.request.prompt.length));
      for (const [T, all] of byLength) {
        for (let from = 0; from < all.length; ) {
          const { taken, B } = prefillRows(all.length - from, T);
          await read(all.slice(from, from + taken), T, B);
          from += taken;
        }
      }
    } catch (e) {
      for (const row of joining) fail(row, e);
      rows = rows.filter((row) => !row.call.failed);
    }
  }

  /** Moves waiting requests among those that are read in pieces. A mixture is read at once, by all of its models. */
  function readInPieces(pieces: PieceReadings): void {
    const taken = rows.length + reading.reduce((n, prompt) => n + prompt.rows.length, 0);
    const joining = waiting.filter(({ request }) => !request.mix).slice(0, mostRows - taken);
    if (joining.length === 0) return;
    waiting = waiting.filter((row) => !joining.includes(row));
    const prompts = Map.groupBy(joining, (row) => row.request.prompt.join());
    for (const same of prompts.values()) reading.push(pieces.open(same));
  }

  /** Reads one piece of one prompt, and gives its rows a first token and a slot after its last. */
  async function readNext(prompt: PromptInPieces, pieces: PieceReadings): Promise<void> {
    prompt.rows = prompt.rows.filter((row) => !row.call.failed);
    if (prompt.rows.length === 0) return;
    try {
      await pieces.read(prompt);
      if (prompt.seen < prompt.tokens.length) return void reading.push(prompt);
      const joining = prompt.rows.filter((row) => goesOn(row, 0));
      if (joining.length === 0) return;
      rows = [...rows, ...joining];
      pieces.join(rows, joining, prompt);
    } catch (e) {
      for (const row of prompt.rows) fail(row, e);
      rows = rows.filter((row) => !row.call.failed);
    }
  }

  async function decode(): Promise<void> {
    await models.decode(rows);
    rows = rows.filter((row) => {
      if (goesOn(row, row.slot)) return true;
      models.keepPrefix(row);
      return false;
    });
  }

  return {
    sample: (requests, watch) =>
      new Promise((resolve, reject) => {
        const call: Call = { samples: [], left: requests.length, resolve, reject, failed: false, watch };
        const opened = requests.map((request, at) => open(request, call, at));
        if (opened.length === 0) resolve([]);
        waiting.push(...opened);
      }),
    cancel(watch) {
      const open = [...waiting, ...reading.flatMap((prompt) => prompt.rows), ...rows];
      for (const row of open)
        if (row.call.watch?.id === watch) fail(row, new Error("the call was cancelled"));
      waiting = waiting.filter((row) => !row.call.failed);
    },
    get busy() {
      return rows.length > 0 || waiting.length > 0 || reading.length > 0;
    },
    mixesIn,
    close: models.close,
    async step() {
      const { pieces } = models;
      if (pieces) {
        readInPieces(pieces);
        const next = reading.shift();
        if (next) await readNext(next, pieces);
      }
      const enough = waiting.length >= Math.min(company, Math.ceil(rows.length / 4));
      const room = waiting.length > 0 && rows.length < mostRows;
      const free = room && (rows.length === 0 || !models.ahead);
      if (room) waited++;
      if (free && (enough || waited > patience)) await admit();
      try {
        if (rows.length > 0) await decode();
      } catch (e) {
        for (const row of rows) fail(row, e);
        rows = [];
      }
      models.keep(mixesIn);
    },
  };
}
