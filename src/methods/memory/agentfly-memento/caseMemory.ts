/** A case memory in place of gradient updates: read before an episode, written after it. */
import { z } from "zod";
import { writtenBy } from "../../../common/artefacts/origins.ts";
import type { Case, CaseMemory } from "../../../core/artefact.ts";
import type { Ctx, Memory, Play } from "../../../core/context.ts";
import { dot } from "../../../core/encoder.ts";
import type { Random } from "../../../core/random.ts";
import type { Rollout, Update } from "../../../core/slots.ts";
import { type Id, type Message, succeeded, type Task, type Trajectory } from "../../../core/types.ts";
import { recordLibraryUse } from "../../../memory/libraryUse.ts";

/** Settings of {@link withCases}. */
export interface WithCasesOptions {
  /** K, cases that are shown. Default 4. */
  readonly cases?: number;
  /** "cosine": the most similar cases. "value": by a helper's predicted success, see {@link CaseQuestion}. Default "value". */
  readonly by?: "cosine" | "value";
  /** α ≥ 0, temperature of retrieval by value: 0 takes the best cases, larger values explore. Default 0.02. */
  readonly temperature?: number;
  /** Name of the helper. Default "retriever". */
  readonly helper?: string;
}

/** The helper's query: the probability of success if this case is shown. */
export interface CaseQuestion {
  readonly query: string;
  readonly situation: string;
  readonly success: boolean;
  readonly cosine: number;
}

/** Texts around the cases in the prompt. */
export const caseWords = ["These went well :", "These went badly :", "case :", "plan :", "\n"] as const;
const [wentWell, wentBadly, caseMark, planMark] = caseWords;

/**
 * Plays a rollout whose episodes are each shown K cases of the memory as a user message before they act, the good ones
 * apart from the bad ones. By value the cases are drawn without replacement from the maximum-entropy retrieval policy,
 *
 *     μ(c | s) = exp(Q(s, c) / α) / Σ_c' exp(Q(s, c') / α)
 *
 * by taking the K greatest Q/α + g, g from a standard Gumbel distribution. The memory is that before the iteration, so no
 * episode sees itself. Stats: `cases.shown` per episode, `cases.good`, the share of them that had succeeded.
 * Paper: "AgentFly: Fine-tuning LLM Agents without Fine-tuning LLMs".
 */
export function withCases(rollout: Rollout, options: WithCasesOptions = {}): Rollout {
  const { cases: count = 4, by = "value", temperature = 0.02, helper = "retriever" } = options;
  let vectors: Vectors = new Map();

  async function retrieved(ctx: Ctx, known: readonly Kept[], query: string, at: Vectors, random: Random) {
    const here = at.get(query) ?? (await ctx.embed([query]))[0]!;
    const questions = known.map(({ situation, success }): CaseQuestion => {
      return { query, situation, success, cosine: dot(here, at.get(situation)!) };
    });
    const worth =
      by === "cosine"
        ? questions.map(({ cosine }) => cosine)
        : (await ctx.helper<CaseQuestion>(helper).predict(questions)).map((q) =>
            temperature === 0 ? q : q / temperature - Math.log(-Math.log(1 - random.next())),
          );
    const best = [...worth.keys()].sort((a, b) => worth[b]! - worth[a]!).slice(0, count);
    return best.map((i) => ({ kept: known[i]!, question: questions[i]! }));
  }

  return async (ctx) => {
    const known = readCases(ctx.memory);
    const texts =
      known.length === 0 ? [] : [...known.map(({ situation }) => situation), ...ctx.tasks.map(queryOf)];
    const at = await vectorsOf(ctx, texts, vectors);
    vectors = at;
    const shown: Record<Id, Shown[]> = {};
    const play = async (asked: Play): Promise<readonly Trajectory[]> => {
      const task = typeof asked.task === "string" ? ctx.task(asked.task) : asked.task;
      const random = ctx.random.split("cases", task.id, asked.attempt);
      const found = known.length === 0 ? [] : await retrieved(ctx, known, queryOf(task), at, random);
      const told = found.length === 0 ? [] : [messageOf(found.map(({ kept }) => kept))];
      const before = typeof asked.advice === "string" ? [userSays(asked.advice)] : (asked.advice ?? []);
      const played = await ctx.play({ ...asked, advice: [...told, ...before] });
      for (const { id } of played) shown[id] = found.map(({ question }) => question);
      return played;
    };
    const experience = await rollout({ ...ctx, play });
    ctx.memory.set(shownKey, shown);
    const all = Object.values(shown).flat();
    const good = all.filter(({ success }) => success).length;
    const stats = {
      "cases.shown": all.length / Math.max(1, experience.trajectories.length),
      ...(all.length > 0 && { "cases.good": good / all.length }),
    };
    return { ...experience, stats: { ...experience.stats, ...stats } };
  };
}

type Vectors = ReadonlyMap<string, Float32Array>;

/** Embeddings of exactly these texts; known ones are reused, and duplicates are computed once. */
async function vectorsOf({ embed }: Ctx, texts: readonly string[], known: Vectors): Promise<Vectors> {
  const all = [...new Set(texts)];
  const fresh = all.filter((text) => !known.has(text));
  const made = fresh.length > 0 ? await embed(fresh) : [];
  const both = new Map([...known, ...fresh.map((text, i) => [text, made[i]!] as const)]);
  return new Map(all.map((text) => [text, both.get(text)!]));
}

/** Settings of {@link rememberCases}. */
export interface RememberCasesOptions {
  /** Capacity of the memory; the latest cases are kept. Default 2000. */
  readonly keep?: number;
  /** Most pairs of situation and shown case that the helper is fitted to, the latest ones. Default 4000. */
  readonly rows?: number;
  /** Text of the actions. Default: the replies, one per line. */
  readonly plan?: (t: Trajectory) => string;
  /** Whether the episode succeeded. Default: what the environment says. */
  readonly judge?: (t: Trajectory) => boolean;
  /** Iterations between versions of the memory as an artefact; the last one makes one as well. Default 10. */
  readonly versionEvery?: number;
  /** Name of the helper that learns which cases help; none is fitted where it is undefined. Default "retriever". */
  readonly helper?: string | undefined;
}

/**
 * Writes each finished episode into the memory as a case, with its success, and fits the helper to the outcomes: one row
 * per shown case, r = 1 or 0 for all cases of an episode. Weights do not change. Failed episodes are not stored. At
 * intervals the memory is recorded as a version of an artefact, "cases". Stats: `cases`,
 * `cases.success`, and those of the fit.
 */
export function rememberCases(options: RememberCasesOptions = {}): Update {
  const { keep = 2000, rows: kept = 4000, plan = repliesOf, judge = succeeded, versionEvery } = options;
  const { helper = "helper" in options ? undefined : "retriever" } = options;
  return async (ctx, _batch, _objectives, { trajectories }) => {
    const finished = trajectories.filter(({ end }) => end.kind !== "failed");
    const shown = shownShape.parse(ctx.memory.get(shownKey) ?? {});
    const fresh = finished.map((t) => {
      return { id: t.id, situation: queryOf(ctx.task(t.task)), plan: plan(t), success: judge(t) };
    });
    const cases = [...readCases(ctx.memory), ...fresh].slice(-keep);
    ctx.memory.set(casesKey, cases);
    // not applied here: the rollout shows cases where they help
    recordLibraryUse(ctx, "cases", () => caseMemoryOf(ctx.memory), versionEvery);
    const told = finished.flatMap((t) => (shown[t.id] ?? []).map((x) => ({ x, y: Number(judge(t)) })));
    const rows = [...rowsShape.parse(ctx.memory.get(rowsKey) ?? []), ...told].slice(-kept);
    ctx.memory.set(rowsKey, rows);
    const fitted =
      helper === undefined || rows.length === 0
        ? {}
        : await ctx.helper<CaseQuestion>(helper).fit(rows.map((row) => ({ ...row, weight: 1 })));
    const success = cases.filter((one) => one.success).length / Math.max(1, cases.length);
    return { steps: 0, cases: cases.length, "cases.success": success, ...prefixed("retriever", fitted) };
  };
}

/** The run's memory as an artefact that can be read, edited, and applied to any model. */
export function caseMemoryOf(memory: Pick<Memory, "get">): CaseMemory {
  const cases = readCases(memory).map(({ id, ...one }): Case => {
    return { id, ...one, origins: { ...writtenBy("rollout"), trajectories: [id] } };
  });
  return { kind: "cases", cases };
}

const casesKey = "cases";
const shownKey = "cases.shown";
const rowsKey = "cases.rows";

const keptShape = z.object({ id: z.string(), situation: z.string(), plan: z.string(), success: z.boolean() });
type Kept = z.infer<typeof keptShape>;
const question = z.object({
  query: z.string(),
  situation: z.string(),
  success: z.boolean(),
  cosine: z.number(),
});
type Shown = z.infer<typeof question>;
const shownShape = z.record(z.string(), z.array(question));
const rowsShape = z.array(z.object({ x: question, y: z.number() }));

const readCases = (memory: Pick<Memory, "get">): readonly Kept[] =>
  z.array(keptShape).parse(memory.get(casesKey) ?? []);

/** Text of the task: its prompt without system messages. */
const queryOf = ({ prompt }: Task): string =>
  prompt.flatMap(({ role, content }) => (role === "system" ? [] : [content])).join("\n");

const repliesOf = ({ turns }: Trajectory): string => turns.map(({ action }) => action.content).join("\n");

function messageOf(cases: readonly Kept[]): Message {
  const told = (of: readonly Kept[]): string[] =>
    of.map(({ situation, plan }) => `${caseMark} ${situation} ${planMark} ${plan}`);
  const good = cases.filter(({ success }) => success);
  const bad = cases.filter(({ success }) => !success);
  return userSays(
    [
      ...(good.length > 0 ? [wentWell, ...told(good)] : []),
      ...(bad.length > 0 ? [wentBadly, ...told(bad)] : []),
    ].join("\n"),
  );
}

const userSays = (content: string): Message => ({ role: "user", content });

const prefixed = (name: string, stats: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(stats).map(([key, value]) => [`${name}.${key}`, value]));
