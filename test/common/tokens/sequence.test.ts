import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { trajectoryRows } from "../../../src/common/tokens/pack.ts";
import {
  concatIds,
  continues,
  growingIds,
  onSharedSequences,
  startsWith,
  turnIn,
  wholeSequence,
} from "../../../src/common/tokens/sequence.ts";
import { actionTokens, type Message, type TurnTokens } from "../../../src/core/types.ts";
import { trajectoryOf, turnOf } from "../../core/make.ts";

const tokensOf = (prompt: readonly number[], action: readonly number[]): TurnTokens =>
  turnOf(prompt, action).tokens!;

/** Turns of which each continues the one before, or not, by chance; some without tokens. */
const someTurns = fc
  .array(
    fc.record({
      goesOn: fc.boolean(),
      tokens: fc.boolean(),
      prompt: fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 4 }),
      action: fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 8 },
  )
  .map((all) => {
    let before: readonly number[] = [];
    return all.map(({ goesOn, tokens, prompt, action }) => {
      const whole = [2, ...(goesOn ? before : []), ...prompt];
      const turn = turnOf(whole, action);
      if (!tokens) return { ...turn, tokens: undefined };
      before = [...whole.slice(1), ...action];
      return turn;
    });
  });

test("growingIds: what it returned before does not change as it grows", () => {
  const ids = growingIds(Int32Array.of(1, 2));
  const views: Int32Array[] = [ids.whole()];
  for (let i = 3; i < 500; i++) {
    assert.deepEqual([...ids.append(Int32Array.of(i))], [i]);
    views.push(ids.whole());
  }
  views.forEach((view, k) => {
    assert.deepEqual(
      [...view],
      Array.from({ length: k + 2 }, (_, i) => i + 1),
    );
  });
});

test("onSharedSequences: the same tokens and the same rows, on one array for each run without a cut", () => {
  fc.assert(
    fc.property(someTurns, (turns) => {
      const given = turns.map(({ tokens }) => tokens);
      const shared = onSharedSequences(given);
      assert.deepEqual(shared, given);
      const rowsOf = (all: readonly (TurnTokens | undefined)[]) => {
        const made = turns.map(({ tokens: _, ...turn }, k) => ({
          ...turn,
          ...(all[k] && { tokens: all[k] }),
        }));
        const t = trajectoryOf("t", made);
        return trajectoryRows(t, { id: "u", group: "g", members: [] }, new Float32Array(actionTokens(t)));
      };
      const after = rowsOf(shared);
      assert.deepEqual(after, rowsOf(given));
      const arrays = new Set(shared.flatMap((tokens) => (tokens ? [tokens.prompt.buffer] : [])));
      assert.equal(arrays.size, after.rows.length);
      const held = [...arrays].reduce((sum, { byteLength }) => sum + byteLength, 0);
      assert.equal(held, 4 * after.rows.reduce((sum, { tokens }) => sum + tokens.length, 0));
    }),
  );
});

test("continues: the same answer from where the views lie as from comparing tokens", () => {
  fc.assert(
    fc.property(someTurns, (turns) => {
      const all = onSharedSequences(turns.map(({ tokens }) => tokens)).filter((t) => t !== undefined);
      for (const before of all) {
        for (const next of all) {
          const compared = startsWith(next.prompt, concatIds([before.prompt, before.action]));
          assert.equal(continues(before, next), compared);
        }
      }
    }),
  );
});

test("continues: a turn whose action was replaced is no longer continued, though its prompt is still a view", () => {
  const [first, second] = onSharedSequences([tokensOf([1, 2], [3]), tokensOf([1, 2, 3, 4], [5])]);
  assert.ok(continues(first!, second!));
  const edited = { ...first!, action: Int32Array.of(9) };
  assert.equal(continues(edited, second!), false);
  assert.deepEqual([...wholeSequence(edited)], [1, 2, 9]);
  assert.deepEqual([...wholeSequence(second!)], [1, 2, 3, 4, 5]);
});

test("turnIn: a prompt is what was said up to the turn, also after more was said", () => {
  const said: Message[] = [{ role: "user", content: "a" }];
  const { prompt: _, ...rest } = turnOf([1], [2]);
  const turn = turnIn(said, said.length, rest);
  said.push({ role: "assistant", content: "b" });
  assert.deepEqual(turn.prompt, [{ role: "user", content: "a" }]);
  assert.deepEqual({ ...turn, ms: 1 }.prompt, turn.prompt);
  assert.equal(turn.prompt[0], said[0]);
});
