/** Inverted index with BM25 ranking. */
import type { Id } from "../core/types.ts";
import { greatest, type Hit } from "./greatest.ts";
import { wordsIn } from "./hashedText.ts";

/** Settings of {@link wordIndex}. */
export interface WordIndexOptions {
  /** k1, the saturation of term frequency. Default 1.2. */
  readonly saturation?: number;
  /** b, the strength of length normalisation, in [0, 1]. Default 0.75. */
  readonly length?: number;
}

/** Finds the texts that share words with a query, ranked by BM25. See {@link wordIndex}. */
export interface WordIndex {
  readonly size: number;
  /** Adds or replaces a text. */
  set(id: Id, text: string): void;
  delete(id: Id): boolean;
  /** At most `count` texts with any of the words for which `keep` is true, best first. */
  search(query: string, count: number, keep?: (id: Id) => boolean): readonly Hit[];
}

/** Posting list of a word: rows in ascending order, with term frequencies. */
interface Postings {
  rows: Int32Array;
  times: Uint8Array;
  length: number;
}

/**
 * Okapi BM25 over lower-case words:
 *
 *     score(d, q) = Σ_{w in q} ln(1 + (N − n_w + ½) / (n_w + ½)) · t (k1 + 1) / (t + k1 (1 − b + b |d| / mean |d|))
 *
 * with t the count of w in d (at most 255), n_w the number of texts with w, |d| in words. Deleted texts stay in the posting
 * lists, are skipped and still count for n_w, until half of the rows are deleted; then the lists are compacted. Incremental.
 * Paper: "The Probabilistic Relevance Framework: BM25 and Beyond".
 */
export function wordIndex({ saturation = 1.2, length: b = 0.75 }: WordIndexOptions = {}): WordIndex {
  let postings = new Map<string, Postings>();
  let ids: (Id | undefined)[] = [];
  let lengths = new Int32Array(64);
  let score_R = new Float32Array(64);
  const rowOf = new Map<Id, number>();
  let words = 0;

  function sweep(): void {
    const moved = new Int32Array(ids.length).fill(-1);
    const kept: Id[] = [];
    ids.forEach((id, row) => {
      if (id === undefined) return;
      moved[row] = kept.length;
      lengths[kept.length] = lengths[row]!;
      rowOf.set(id, kept.length);
      kept.push(id);
    });
    const swept = new Map<string, Postings>();
    for (const [word, { rows, times, length }] of postings) {
      let n = 0;
      for (let i = 0; i < length; i++) {
        const row = moved[rows[i]!]!;
        if (row < 0) continue;
        rows[n] = row;
        times[n++] = times[i]!;
      }
      if (n > 0) swept.set(word, { rows, times, length: n });
    }
    ids = kept;
    postings = swept;
  }

  const index: WordIndex = {
    get size() {
      return rowOf.size;
    },
    set(id, text) {
      index.delete(id);
      const row = ids.length;
      if (row === lengths.length) {
        lengths = twice(lengths, new Int32Array(2 * row));
        score_R = new Float32Array(2 * row);
      }
      ids.push(id);
      rowOf.set(id, row);
      const said = wordsIn(text);
      lengths[row] = said.length;
      words += said.length;
      const counts = new Map<string, number>();
      for (const word of said) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const [word, count] of counts) {
        let list = postings.get(word);
        if (!list) {
          list = { rows: new Int32Array(2), times: new Uint8Array(2), length: 0 };
          postings.set(word, list);
        }
        if (list.length === list.rows.length) {
          list.rows = twice(list.rows, new Int32Array(2 * list.length));
          list.times = twice(list.times, new Uint8Array(2 * list.length));
        }
        list.rows[list.length] = row;
        list.times[list.length++] = Math.min(255, count);
      }
    },
    delete(id) {
      const row = rowOf.get(id);
      if (row === undefined) return false;
      rowOf.delete(id);
      ids[row] = undefined;
      words -= lengths[row]!;
      if (ids.length > 64 && rowOf.size < ids.length / 2) sweep();
      return true;
    },
    search(query, count, keep) {
      const scores = score_R.fill(0, 0, ids.length);
      const mean = words / Math.max(1, rowOf.size);
      let found = false;
      for (const word of new Set(wordsIn(query))) {
        const list = postings.get(word);
        if (!list) continue;
        found = true;
        const { rows, times, length: n } = list;
        const rarity = Math.log(1 + (ids.length - n + 0.5) / (n + 0.5));
        for (let i = 0; i < n; i++) {
          const row = rows[i]!;
          const t = times[i]!;
          const damped = t + saturation * (1 - b + (b * lengths[row]!) / mean);
          scores[row]! += (rarity * t * (saturation + 1)) / damped;
        }
      }
      if (!found) return [];
      const best = greatest(count);
      for (let row = 0; row < ids.length; row++) {
        const id = ids[row];
        if (scores[row]! > 0 && id !== undefined && (keep?.(id) ?? true)) best.offer(row, scores[row]!);
      }
      return best.all().map(({ row, score }) => ({ id: ids[row]!, score }));
    },
  };
  return index;
}

function twice<T extends Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
