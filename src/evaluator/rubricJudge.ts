import { z } from "zod";
import { type Chat, type ChatRequest, unlessFailed } from "../core/chat.ts";
import type { EvaluatorCall } from "../core/evaluator.ts";
import type { Random } from "../core/random.ts";
import type { Candidate, Rubric, RubricJudge, RubricLibrary } from "../core/rubrics.ts";
import type { Stats } from "../core/types.ts";
import { fenceFor } from "./fence.ts";

/** Settings of {@link chatRubricJudge}. */
export interface ChatRubricJudgeOptions {
  /** Largest number of rubrics per judgement; from a larger library the judge first selects the relevant ones. Default 8. */
  readonly routed?: number;
}

const written = z.object({
  candidates: z.array(
    z.object({
      reasons: z.string().describe("one sentence for each criterion that decides"),
      score: z.number().min(0).max(1).describe("0: worthless, 1: could not be better"),
    }),
  ),
});

/**
 * A frozen judge that applies a rubric library through a chat model of any provider. From a large library it first selects
 * the rubrics relevant to the request. It answers each tool's prompt for every candidate, then scores all candidates
 * together, with reasons before scores. Requests, replies and findings stand within a fence that none of them contains. Undefined where no answer fits, or the provider fails.
 */
export function chatRubricJudge(
  chat: Chat,
  { routed = 8 }: ChatRubricJudgeOptions = {},
): RubricJudge<Candidate> {
  const score = async (
    { rubrics }: RubricLibrary,
    candidates: readonly Candidate[],
    { random, signal }: EvaluatorCall,
  ): Promise<readonly Stats[] | undefined> => {
    const [first] = candidates;
    if (!first) return [];
    const sent: Sent = { seed: random.seed, ...(signal && { signal }) };
    const chosen = rubrics.length > routed ? await route(chat, rubrics, first, routed, sent) : rubrics;
    const tools = chosen.filter(({ kind }) => kind === "tool");
    const findings = await Promise.all(candidates.map((one) => analysed(chat, tools, one, random, sent)));
    const skills = chosen.filter(({ kind }) => kind === "skill").map(({ text }) => `- ${text}`);
    const { told, around } = fenceFor(
      [first.asked, ...candidates.map(({ reply }) => reply), ...findings.flat()],
      random,
    );
    const content = [
      `Score replies to what was asked, by these criteria:\n${skills.join("\n") || "- what serves whoever asked"}`,
      told,
      `Asked:\n${around(first.asked)}`,
      ...candidates.map(({ reply }, i) => {
        const found = findings[i]!.length > 0 ? [`Findings on it:\n${around(findings[i]!.join("\n"))}`] : [];
        return [`Candidate ${i + 1}:\n${around(reply)}`, ...found].join("\n");
      }),
      `Give one entry for each of the ${candidates.length} candidates, in their order.`,
    ].join("\n\n");
    const said = await chat
      .ask({ messages: [{ role: "user", content }], ...sent }, written)
      .catch(unlessFailed);
    return said?.candidates.length === candidates.length
      ? said.candidates.map((one) => ({ score: one.score }))
      : undefined;
  };
  return (library) => ({
    name: "chat rubric judge",
    score: (candidates, call) => score(library, candidates, call),
  });
}

/** What goes with every message of a judgement. */
type Sent = Pick<ChatRequest, "seed" | "signal">;

/** The rubrics that the judge selects; the first ones where it selects none that exist. */
async function route(
  chat: Chat,
  rubrics: readonly Rubric[],
  { asked }: Candidate,
  most: number,
  sent: Sent,
): Promise<readonly Rubric[]> {
  const listed = rubrics.map(({ id, text }) => `${id}: ${text}`).join("\n");
  const content = `Which of these rubrics matter most for judging replies to the request below? Name at most ${most}.\n\n${listed}\n\nRequest: ${asked}`;
  const said = await chat
    .ask({ messages: [{ role: "user", content }], ...sent }, z.object({ ids: z.array(z.string()) }))
    .catch(unlessFailed);
  const found = rubrics.filter(({ id }) => said?.ids.includes(id));
  return (found.length > 0 ? found : rubrics).slice(0, most);
}

/** The tools' findings on a candidate; a tool that fails finds nothing. */
async function analysed(
  chat: Chat,
  tools: readonly Rubric[],
  { asked, reply }: Candidate,
  random: Random,
  sent: Sent,
): Promise<readonly string[]> {
  const { told, around } = fenceFor([asked, reply], random);
  const found = tools.map(async ({ id, text }) => {
    const content = `${text}\n\n${told}\n\nAsked:\n${around(asked)}\n\nReply:\n${around(reply)}`;
    const said = await chat.reply({ messages: [{ role: "user", content }], ...sent }).catch(unlessFailed);
    return said ? [`${id} finds: ${said.message.content.trim()}`] : [];
  });
  return (await Promise.all(found)).flat();
}
