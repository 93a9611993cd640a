import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { pack } from "../../../common/tokens/pack.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Message, Task, Trajectory } from "../../../core/types.ts";
import { vocabularyCodec } from "../../../engine/tabular/codec.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { withoutLeaks } from "./withoutLeaks.ts";
import { withTeacherRows } from "./withTeacherRows.ts";

const vocabulary = ["guess 1 2 3 over under it is"];
const codec = vocabularyCodec(vocabulary);
const model = await tabularEngine().create({ id: "policy", seed: 1, vocabulary, contextTokens: 64 });

/** A dialogue of these guesses, each but the last met with these words. */
function dialogue(id: string, guesses: readonly string[], words: readonly string[]): Trajectory {
  const messages: Message[] = [{ role: "user", content: "guess" }];
  let tokens = [...codec.open(messages)];
  const turns = guesses.map((content, k) => {
    const prompt = [...messages];
    const action = [...codec.encode(content), codec.endId];
    const turn = turnOf(tokens, action, { prompt, action: { role: "assistant", content } });
    const said: Message = { role: "user", content: words[k] ?? "" };
    messages.push(turn.action, said);
    tokens = [...tokens, ...action, ...codec.extend("eos", [said])];
    return turn;
  });
  return trajectoryOf(id, turns);
}

const rolled =
  (...trajectories: readonly Trajectory[]): Rollout =>
  async () => ({
    trajectories,
    units: trajectories.map((t) => ({ id: t.id, group: "g", members: [t.id] })),
  });

test("withTeacherRows: each thing said is a row whose targets are its words, after all that came before", async () => {
  const taught = dialogue("t", ["1", "1", "3"], ["over 1", "over 1"]);
  const { rows, stats } = await withTeacherRows(rolled(taught, dialogue("one", ["2"], [])))(
    ctxOf({ model: () => model }),
  );
  assert.deepEqual(stats, { taught: 1 });
  assert.deepEqual(
    rows!.map(({ tokens, targets }) => [
      codec.decode(tokens),
      codec.decode(Int32Array.from(targets, (p) => tokens[p]!)),
    ]),
    [
      ["guess 1 over 1", "over 1"],
      ["guess 1 over 1 1 over 1", "over 1"], // the second one, though the same was said before
    ],
  );
  assert.deepEqual(
    rows!.map(({ info, turn }) => [info.origin, info.role, info.unit, [...turn]]),
    [
      ["demonstrated", "teacher", "t", [0, 0]],
      ["demonstrated", "teacher", "t", [1, 1]],
    ],
  );
  assert.equal(pack(rows!, [{ id: "t", group: "g", members: ["t"] }]).target_A.length, 4);
});

test("withTeacherRows: words that stand otherwise in the prompt have no row, and are counted", async () => {
  const t = dialogue("t", ["1", "3"], ["over 1"]);
  const second = t.turns[1]!;
  const other = {
    ...second,
    prompt: [...second.prompt.slice(0, 2), { role: "user", content: "under 2" } as const],
  };
  const { rows, stats } = await withTeacherRows(rolled({ ...t, turns: [t.turns[0]!, other] }))(
    ctxOf({ model: () => model }),
  );
  assert.deepEqual([rows!.length, stats!.taught], [0, 0]);
});

test("withoutLeaks: a dialogue in which the answer was said is learnt from no more; who says it himself leaks nothing", async () => {
  const task: Task = { id: "task", prompt: [], reference: "3", metadata: {}, seed: 1 };
  let discarded = 0;
  const ctx = ctxOf({
    task: () => task,
    count: (name, n) => {
      if (name === "tokens.discarded") discarded += n;
    },
  });
  const fair = dialogue("fair", ["1", "3", "3"], ["over 1", "over 2"]);
  const leaky = dialogue("leaky", ["1", "3"], ["it is 3"]);
  const late = dialogue("late", ["1", "2"], ["over 1", "it is 3"]); // said after the last action: seen by nobody
  const { trajectories, units, stats } = await withoutLeaks(rolled(fair, leaky, late))(ctx);
  assert.deepEqual(
    units.map((u) => u.id),
    ["fair", "late"],
  );
  assert.equal(trajectories.length, 3);
  assert.deepEqual([stats!.leaked, discarded], [1 / 3, 4]);
});
