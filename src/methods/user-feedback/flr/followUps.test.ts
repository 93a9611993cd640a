import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhetstoneError } from "../../../core/errors.ts";
import { vocabularyCodec } from "../../../engine/tabular/codec.ts";
import { askedToReact, followUp } from "./followUps.ts";

const codec = vocabularyCodec(["why because thanks a lot", askedToReact]);
const conversation = [
  { role: "system", content: "a" },
  { role: "user", content: "why" },
  { role: "assistant", content: "because" },
] as const;
const names = (ids: Int32Array): string => Array.from(ids, (id) => codec.nameOf(id)).join(" ");

test("followUp: the user's next turn, where the template puts it, and nothing else of the template", () => {
  const { prompt, target } = followUp(codec, conversation, "thanks a lot");
  assert.equal(names(prompt), "<system> a <end> <user> why <end> <assistant> because <end> <user>");
  assert.equal(names(target), "thanks a lot");
});

test("followUp, swapped: the model is the assistant, and what it said itself comes from the user", () => {
  const { prompt, target } = followUp(codec, conversation, "thanks", "swapped");
  const question = `<user> ${askedToReact} <end>`;
  const rest = "<system> a <end> <assistant> why <end> <user> because <end> <assistant>";
  assert.equal(names(prompt), `${question} ${rest}`);
  assert.equal(names(target), "thanks");
});

test("followUp: an empty utterance has no likelihood", () => {
  for (const speaker of ["user", "swapped"] as const) {
    assert.throws(
      () => followUp(codec, conversation, "", speaker),
      (e) => isWhetstoneError(e) && e.code === "shape.mismatch",
    );
  }
});
