import assert from "node:assert/strict";
import { test } from "node:test";
import { textSoFar } from "../../../src/common/tokens/textSoFar.ts";

/** Bytes as tokens. */
const bytes = { decode: (ids: Int32Array) => new TextDecoder().decode(Uint8Array.from(ids)) };
const grown = (ids: Iterable<number>): string[] => Array.from(ids, textSoFar(bytes));

test("textSoFar waits for whole characters, and never takes back", () => {
  assert.deepEqual(grown(Buffer.from("aé🐈b")), ["a", "a", "aé", "aé", "aé", "aé", "aé🐈", "aé🐈b"]);
  // bytes that are no character are shown once no character can begin with them
  const broken = grown([97, ...new Array<number>(20).fill(0xff), 98]);
  for (const [i, text] of broken.slice(1).entries()) assert.ok(text.startsWith(broken[i]!));
  assert.equal(broken.at(-1)?.at(-1), "b");
});

test("textSoFar decodes a token with those before it, since decoders join neighbours", () => {
  const words = ["the", "cat", "<end>", "sat"];
  const decode = (ids: Int32Array) =>
    [...ids]
      .filter((id) => id !== 2)
      .map((id) => words[id])
      .join(" ");
  const longest: number[] = [];
  const next = textSoFar({
    decode: (ids) => {
      longest.push(ids.length);
      return decode(ids);
    },
  });
  const ids = Array.from({ length: 40 }, (_, i) => (i * 3) % 4);
  assert.equal(ids.map(next).at(-1), decode(Int32Array.from(ids)));
  assert.ok(Math.max(...longest) <= 4, "not the whole reply");
});
