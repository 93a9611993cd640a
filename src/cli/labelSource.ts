/** Labels that judges are held against, or fitted to: a file, or what users said of served replies. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { isOfJudge } from "../core/signal.ts";
import type { TrainingExample } from "../core/trainingExamples.ts";
import type { Trajectory } from "../core/types.ts";
import { type JudgedItem, judgedTrajectory } from "../evaluator/judgedItem.ts";
import { type Labels, type PairLabel, type ReplyLabel, readLabels } from "../evaluator/labels.ts";
import { trainingExamplesFrom } from "../exchange/derived.ts";
import { isPostgresUrl } from "../store/where.ts";
import { isSqlite } from "./judgeSource.ts";
import { withTrafficStore } from "./trafficStore.ts";

/**
 * @param what a file of labels, or a traffic store.
 * @param kind of a store's labels: pairs, of corrections and preferences, or replies, of ratings. Default: "replies".
 * @throws WhetstoneError `option.range`, `import.invalid`, `store.failed`.
 */
export async function labelsFrom(what: string, kind: Labels["kind"] | undefined): Promise<Labels> {
  const isStore = isPostgresUrl(what) || (await isSqlite(what));
  if (isStore) return await labelsOfStore(what, kind ?? "replies");
  const text = await textOf(what);
  if (kind === undefined) return readLabels(text, basename(what));
  throw new WhetstoneError("option.range", {
    where: "--labels",
    got: "it beside a file of labels",
    expected: "it with a traffic store: a file has labels of one kind",
    fix: "Leave it out.",
  });
}

async function labelsOfStore(where: string, kind: Labels["kind"]): Promise<Labels> {
  const labels = await withTrafficStore(
    where,
    async (production): Promise<Labels> => {
      const [pairs, replies]: [PairLabel[], ReplyLabel[]] = [[], []];
      const kinds = [kind === "pairs" ? "pair" : "rating"] as const;
      for await (const one of trainingExamplesFrom(production, { kinds })) {
        if (one.kind === "pair") pairs.push(...pairLabel(one, pairs.length));
        if (one.kind === "rating") replies.push(...replyLabel(one));
      }
      return kind === "pairs" ? { kind, labels: pairs } : { kind, labels: replies };
    },
    "there",
  );
  if (labels.labels.length > 0) return labels;
  throw new WhetstoneError("option.range", {
    where: "--against",
    got: `${where}, in which nobody ${kind === "pairs" ? "corrected or compared" : "rated"} a reply`,
    expected: kind === "pairs" ? "corrections or preferences" : "reactions or ratings of single replies",
    fix: `Try --labels ${kind === "pairs" ? "replies" : "pairs"}; whetstone import and POST /v1/signals bring feedback in.`,
  });
}

type Example<Kind> = TrainingExample & { readonly kind: Kind };

function pairLabel(example: Example<"pair">, at: number): PairLabel[] {
  if (isOfJudge(example)) return [];
  const [chosen, rejected] = [itemOf(example, example.chosen), itemOf(example, example.rejected)];
  if (!chosen || !rejected) return [];
  // the chosen reply changes places: else "a" alone would say which one it is
  const isFirst = at % 2 === 0;
  const { strength } = example;
  return [
    {
      prompt: chosen.asked,
      a: isFirst ? chosen.reply : rejected.reply,
      b: isFirst ? rejected.reply : chosen.reply,
      preferred: strength === 0.5 ? "tie" : strength > 0.5 === isFirst ? "a" : "b",
      ...told(example, example.channel),
    },
  ];
}

function replyLabel(example: Example<"rating">): ReplyLabel[] {
  if (isOfJudge(example)) return [];
  const item = itemOf(example, example.reply);
  if (!item) return [];
  const { asked: prompt, reply } = item;
  return [{ prompt, reply, label: example.good ? 1 : 0, ...told(example, example.channel) }];
}

/** As `whetstone judge STORE` shows it to a judge. */
const itemOf = ({ task }: TrainingExample, trajectory: Trajectory): JudgedItem | undefined =>
  judgedTrajectory(task, trajectory);

/** Labels of one user depend on each other. */
const told = ({ from }: TrainingExample, aspect: string) => ({
  aspect,
  ...(from.users[0] !== undefined && { group: `user ${from.users[0]}` }),
});

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (e) {
    throw new WhetstoneError("option.range", {
      where: "--against",
      got: existsSync(file) ? `${file} (${messageOf(e)})` : `${file}, which is not there`,
      expected: "a file of labels, one JSON object a line, or a traffic store",
      fix: "Check the path.",
      cause: e,
    });
  }
}
