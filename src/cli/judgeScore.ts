/** `whetstone judge FILE|RUN|STORE`: the scores of a judge, or of several, for what has no labels. */

import { mean } from "../common/statistics/statistics.ts";
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import type { Spend } from "../core/chat.ts";
import { randomStream } from "../core/random.ts";
import type { EnsembleRule } from "../evaluator/ensemble.ts";
import { type CallOutcome, judgeCalls } from "../evaluator/judgeCall.ts";
import { type NamedItem, type ScoredItem, scoreItems } from "../evaluator/scoreItems.ts";
import { spendLine } from "./chat.ts";
import { untilInterrupted } from "./interrupted.ts";
import { withJudgeSource } from "./judgeSource.ts";
import type { JudgePanel } from "./judges.ts";
import { duration, folded, type Io, lateProgress, number } from "./output.ts";
import { openScoreFile, type ScoreRow } from "./scoreFile.ts";

/** What is to be scored, how, and where the scores go. */
export interface ScoreWork {
  readonly what: string;
  readonly out: string;
  readonly runs: string;
  readonly panel: JudgePanel;
  readonly rule: EnsembleRule;
  readonly seed: number;
  readonly timeoutSeconds: number;
  readonly concurrency: number;
  /** Most items. */
  readonly limit: number;
  /** Ends after a few items, with what all would take. */
  readonly estimate: boolean;
}

/** Items that an estimate is made from. */
const sampled = 5;

export async function score(work: ScoreWork, io: Io): Promise<void> {
  const { timeoutSeconds, concurrency } = work;
  await withJudgeSource(work.what, work.runs, async (source) => {
    const file = await openScoreFile(work.out, {
      source: source.identity,
      judges: work.panel.identities,
      ...(work.panel.names.length > 1 && { rule: work.rule }),
      seed: work.seed,
    });
    const ids: string[] = [];
    for await (const { id } of first(work.limit, source.items())) ids.push(id);
    const open = ids.filter((id) => !file.known.has(id));
    const asked = new Set(work.estimate ? open.slice(0, sampled) : open);
    if (asked.size < open.length) io.say(`Estimating from ${counted(asked.size, "item")} of ${open.length}`);
    else if (open.length < ids.length)
      io.say(`Going on: ${ids.length - open.length} of ${ids.length} are scored`);
    const began = performance.now();
    const progress = lateProgress(io, "Scores", asked.size);
    const rows: ScoreRow[] = [];
    let spend: Spend | undefined;
    const done = await untilInterrupted(io, async (stop) => {
      const { judges, spent } = work.panel.ready(stop, { timeoutSeconds, concurrency });
      try {
        await scoreItems(judges, chosen(asked, source.items()), {
          random: randomStream(work.seed),
          rule: work.rule,
          call: judgeCalls({ timeoutSeconds, stop }),
          most: concurrency,
          onScore: async (scored) => {
            const row = rowOf(scored);
            rows.push(row);
            await file.add(row);
            progress.one();
          },
        });
        return true;
      } finally {
        spend = spent();
        progress.close();
      }
    });
    const seconds = (performance.now() - began) / 1000;
    if (done === undefined) {
      const kept = rows.filter(({ outcome }) => outcome === "answered").length;
      io.say(
        `${kept} more are scored. The same command goes on from there; until then they are in ${file.progress}`,
      );
      return;
    }
    if (asked.size < open.length) {
      sayEstimate(io, { asked: asked.size, open: open.length, spend, seconds });
      return;
    }
    const all = [...[...file.known.values()].filter(({ id }) => ids.includes(id)), ...rows];
    const counts = countsOf(all);
    const unasked = all.find(({ outcome }) => outcome === "not asked");
    if (!unasked) await file.finish(ids);
    const scores = all.flatMap((row) => (row.score === null ? [] : [row.score]));
    io.record({
      type: "scores",
      of: work.what,
      out: unasked ? file.progress : work.out,
      judges: work.panel.names,
      items: ids.length,
      outcomes: counts,
      mean: mean(scores),
      ...(spend && { spend }),
      seconds,
    });
    const lost = Object.entries(counts).map(([outcome, n]) => `${n} ${outcome}`);
    io.say(
      ...(unasked ? [] : [`Written: ${work.out}, ${counted(ids.length, "item")}`]),
      `${lost.join(", ") || "nothing to score"}${scores.length > 0 ? `; mean score ${number(mean(scores))}` : ""}`,
      ...(spend ? folded(io, `Cost: ${spendLine(spend)}`) : []),
    );
    if (unasked) {
      io.error(
        `whetstone: ${counted(counts["not asked"] ?? 0, "item")} not asked, and ${work.out} is not written: ${oneLine(unasked.why ?? "")} The same command goes on.`,
      );
      io.code = 1;
    } else if (ids.length > 0 && scores.length === 0) {
      const why = all.find((row) => row.why !== undefined)?.why;
      io.error(
        `whetstone: no item has a score.${why === undefined ? "" : ` The first reason: ${oneLine(why)}`}`,
      );
      io.code = 1;
    }
  });
}

async function* first(most: number, items: AsyncIterable<NamedItem>): AsyncGenerator<NamedItem> {
  let n = 0;
  for await (const item of items) {
    if (n++ >= most) return;
    yield item;
  }
}

async function* chosen(ids: ReadonlySet<string>, items: AsyncIterable<NamedItem>): AsyncGenerator<NamedItem> {
  let left = ids.size;
  if (left === 0) return;
  for await (const item of items) {
    if (!ids.has(item.id)) continue;
    yield item;
    if (--left === 0) return;
  }
}

const rowOf = ({ id, together, each, aspects }: ScoredItem): ScoreRow => ({
  id,
  score: together.value ?? null,
  outcome: together.outcome,
  ...(together.why !== undefined && { why: together.why }),
  ...(aspects && { aspects }),
  ...(each.length > 1 && { judges: each.map(({ value }) => value ?? null) }),
});

function countsOf(rows: readonly ScoreRow[]): Partial<Record<CallOutcome, number>> {
  const counts: Partial<Record<CallOutcome, number>> = {};
  for (const { outcome } of rows) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

interface Estimated {
  readonly asked: number;
  readonly open: number;
  readonly spend: Spend | undefined;
  readonly seconds: number;
}

/** What all would take, were they like those that were asked. Replies from the cache cost nothing, and count as such. */
function sayEstimate(io: Io, { asked, open, spend, seconds }: Estimated): void {
  const times = open / asked;
  const tokens = spend && { read: spend.inputTokens * times, written: spend.outputTokens * times };
  const usd = spend && spend.usd * times;
  io.record({ type: "estimate", items: open, seconds: seconds * times, ...(tokens && { tokens }), usd });
  io.say(
    `Estimate for ${counted(open, "item")}: about ${duration(seconds * times)}${
      tokens ? `, ${Math.round(tokens.read)} tokens read, ${Math.round(tokens.written)} written` : ""
    }${usd ? `, $${number(usd)}` : ""}. The ${asked} are kept; without --estimate the command goes on.`,
  );
}
