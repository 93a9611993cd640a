import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ServedResponse } from "../../src/core/served.ts";
import { recent } from "../../src/store/recent.ts";
import { packResponse, sharing, unpackResponse } from "../../src/store/served.ts";
import { served } from "./served.ts";

test("a conversation that grows is stored once, words and tokens", () => {
  const size = (turns: number): number => {
    let bytes = 0;
    let base: ServedResponse | undefined;
    for (let t = 0; t < turns; t++) {
      const response = served("s", t);
      const row = packResponse(response, base);
      bytes += row.data.length + (row.tokens?.length ?? 0);
      base = response;
    }
    return bytes;
  };
  assert.ok(size(40) < 11 * size(4), `${size(4)} bytes for 4 turns, ${size(40)} for 40`);
});

test("a conversation held in memory is there once: what was said before is the very same object", () => {
  const before = served("s", 3);
  const response = structuredClone(served("s", 4));
  const held = sharing(response, before);
  assert.deepEqual(held, response);
  // the prompt before, the reply to it, and one message that is new
  const past = [...before.prompt, before.choices[0]!.message];
  assert.equal(held.prompt.length, past.length + 1);
  for (const [i, message] of past.entries()) assert.equal(held.prompt[i], message);
  assert.equal(held.prompt.at(-1), response.prompt.at(-1));
});

test("any response survives packing after any other", () => {
  const message = fc.record({
    role: fc.constantFrom("user" as const, "assistant" as const),
    content: fc.constantFrom("a", "b", "é\u0000\ud800"),
  });
  const tokens = fc
    .tuple(
      fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 6 }),
      fc.array(fc.integer(), { maxLength: 4 }),
    )
    .map(([prompt, action]) => ({
      prompt: Int32Array.from(prompt),
      action: Int32Array.from(action),
      logp: Float32Array.from(action, (x) => x / 3),
      behaviour: Float32Array.from(action, (x) => (x % 2 === 0 ? x / 3 : Number.NEGATIVE_INFINITY)),
    }));
  const choice = fc.record(
    { message, stop: fc.constant("eos" as const), tokens },
    { requiredKeys: ["message", "stop"] },
  );
  const response = fc
    .record({
      prompt: fc.array(message, { maxLength: 4 }),
      choices: fc.array(choice, { maxLength: 3 }),
      tags: fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
    })
    .map((some): ServedResponse => ({ ...served("s", 0), ...some }));
  fc.assert(
    fc.property(response, response, fc.nat(2), (before, after, reply) => {
      // half of the time a prompt that does go on from the one before
      const said = before.choices[reply]?.message;
      const prompt = said ? [...before.prompt, said, ...after.prompt] : after.prompt;
      const next = { ...after, id: "next", prompt };
      const row = packResponse(next, before);
      const back = unpackResponse(row, row.base === null ? undefined : before);
      const plain = (r: ServedResponse): unknown => JSON.parse(JSON.stringify(r));
      assert.deepEqual(plain(back), plain(next));
      for (const [c, { tokens: kept }] of back.choices.entries()) {
        assert.deepEqual(kept?.behaviour, next.choices[c]?.tokens?.behaviour);
      }
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("what was last asked for is kept, by weight", () => {
  const kept = recent<string, number>(10, (value) => value);
  for (const [key, weight] of [
    ["a", 4],
    ["b", 4],
  ] as const)
    kept.set(key, weight);
  assert.equal(kept.get("a"), 4);
  kept.set("c", 4); // 12 is too much: b is the longest unused
  assert.deepEqual([kept.get("a"), kept.get("b"), kept.get("c")], [4, undefined, 4]);
  kept.set("a", 7); // 11: c goes
  assert.deepEqual([kept.get("a"), kept.get("c")], [7, undefined]);
  kept.set("d", 11); // heavier than all of it: nothing stays
  assert.deepEqual([kept.get("a"), kept.get("d")], [undefined, undefined]);
});
