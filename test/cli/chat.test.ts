import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChatFlags, chatOf } from "../../src/cli/chat.ts";
import { isWhetstoneError } from "../../src/core/errors.ts";

const flags: ChatFlags = {
  chat: "http://127.0.0.1:9/v1",
  model: "tiny",
  keyEnv: "NO_SUCH_KEY",
  cache: "unused",
};
const made = (more: Partial<ChatFlags>) => chatOf({ ...flags, ...more }, new AbortController().signal);

test("a model of an address goes by its host and name, so that caches do not mix", () => {
  assert.equal(made({}).id, "127.0.0.1:9.chat/tiny");
  assert.ok(made({ price: "0.25,2", maxSpend: "1" }));
});

test("prices and limits that are none are refused: a limit in dollars needs both prices", () => {
  const wrong: readonly [Partial<ChatFlags>, flag: string][] = [
    [{ price: "0.25" }, "--price"],
    [{ price: "0.25," }, "--price"],
    [{ price: "0.25,two" }, "--price"],
    [{ price: "0.25,-2" }, "--price"],
    [{ maxSpend: "1" }, "--max-spend"],
    [{ maxSpend: "0", price: "0.25,2" }, "--max-spend"],
    [{ maxSpend: "", price: "0.25,2" }, "--max-spend"],
    [{ chat: "127.0.0.1" }, "--chat"],
    [{ chat: "file:///tmp" }, "--chat"],
  ];
  for (const [more, flag] of wrong)
    assert.throws(
      () => made(more),
      (e) => isWhetstoneError(e) && e.code === "option.range" && e.message.includes(flag),
      JSON.stringify(more),
    );
});
