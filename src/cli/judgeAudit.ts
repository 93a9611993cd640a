/** `whetstone judge FILE|RUN|STORE --audit`: what raises a judge's scores and should not. */
import { counted } from "../common/text/counted.ts";
import { oneLine } from "../common/text/oneLine.ts";
import type { Spend } from "../core/chat.ts";
import { randomStream } from "../core/random.ts";
import { type AuditedBias, type AuditedReply, auditReply, auditReport } from "../evaluator/audit.ts";
import { judgeCalls } from "../evaluator/judgeCall.ts";
import type { NamedItem } from "../evaluator/scoreItems.ts";
import { limitConcurrency } from "../train/limit.ts";
import { spendLine } from "./chat.ts";
import { effectText } from "./effectText.ts";
import { untilInterrupted } from "./interrupted.ts";
import { withJudgeSource } from "./judgeSource.ts";
import { type JudgePanel, requireOneJudge } from "./judges.ts";
import { folded, type Io, lateProgress, roomOf, table } from "./output.ts";

/** What is to be audited, and by how many replies. */
export interface AuditWork {
  readonly what: string;
  readonly runs: string;
  readonly panel: JudgePanel;
  readonly seed: number;
  readonly timeoutSeconds: number;
  readonly concurrency: number;
  /** Most replies; each takes six calls. */
  readonly limit: number;
}

export async function audit(work: AuditWork, io: Io): Promise<void> {
  const { timeoutSeconds, concurrency } = work;
  requireOneJudge(work.panel, "--audit");
  await withJudgeSource(work.what, work.runs, async (source) => {
    const items: NamedItem[] = [];
    for await (const item of source.items()) {
      if (items.length >= work.limit) break;
      items.push(item);
    }
    let spend: Spend | undefined;
    const replies = await untilInterrupted(io, async (stop): Promise<readonly AuditedReply[]> => {
      const { judges, spent } = work.panel.ready(stop, { timeoutSeconds, concurrency });
      const progress = lateProgress(io, "Replies", items.length);
      const limit = limitConcurrency(concurrency);
      const call = judgeCalls({ timeoutSeconds, limit, stop });
      try {
        return await Promise.all(
          items.map(async ({ id, item }) => {
            const done = await auditReply(judges[0]!, item, randomStream(work.seed).split(id), call);
            progress.one();
            return done;
          }),
        );
      } finally {
        spend = spent();
        progress.close();
      }
    });
    if (replies === undefined) return;
    const { biases, confidence } = auditReport(replies);
    const calls = replies.flatMap(({ base, changed, position }) => [base, position, ...changed]);
    const lost = calls.filter(({ outcome }) => outcome !== "answered");
    io.record({
      type: "audit",
      of: work.what,
      judge: work.panel.names[0],
      replies: replies.length,
      calls: { answered: calls.length - lost.length, lost: lost.length },
      biases,
      biasConfidence: confidence,
      ...(spend && { spend }),
    });
    io.say(
      `${counted(replies.length, "item")}, ${calls.length - lost.length} of ${calls.length} calls answered`,
      "",
      ...table(
        ["bias", "verdict", "moves the score by", "for"],
        biases.map((bias) => [bias.name, bias.verdict, effectOf(bias), bias.unit]),
        roomOf(io),
      ),
      ...folded(
        io,
        `On the judge's own scale; the intervals hold together at 99 % (each at ${(100 * confidence).toFixed(1)} %).`,
      ),
      ...(spend ? folded(io, `Cost: ${spendLine(spend)}`) : []),
    );
    if (biases.every(({ verdict }) => verdict === "not measured")) {
      const why = lost.find((one) => one.why !== undefined)?.why;
      io.error(
        `whetstone: nothing was measured.${why === undefined ? "" : ` The first reason: ${oneLine(why)}`}`,
      );
      io.code = 1;
    }
  });
}

function effectOf(bias: AuditedBias): string {
  if (bias.verdict === "not measured") return bias.why;
  return effectText(bias.effect, 1, 3);
}
