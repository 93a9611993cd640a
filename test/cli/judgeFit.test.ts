/** `whetstone judge --fit`: a reward model of what people said, with a head for each aspect. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { assistant, response, signal, user } from "../exchange/served.ts";
import { temporary } from "../temporary.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(temporary, "whetstone-fit-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);
function written(name: string, rows: readonly object[]): string {
  writeFileSync(at(name), rows.map((row) => JSON.stringify(row)).join("\n"));
  return at(name);
}

const words = { tone: ["kind", "warm", "rude", "cold"], facts: ["exact", "sourced", "vague", "wrong"] };
type Aspect = keyof typeof words;
const aspects = ["tone", "facts"] as const;
/** Five words of either list. */
const replyOf = (seed: number): string => {
  const random = randomStream(seed).split("reply");
  const all = [...words.tone, ...words.facts];
  return Array.from({ length: 5 }, () => all[random.below(all.length)]!).join(" ");
};
/** Good words less bad ones, of one aspect. */
const worth = (aspect: Aspect, reply: string): number =>
  reply.split(" ").reduce((sum, word) => {
    const place = words[aspect].indexOf(word);
    return place < 0 ? sum : sum + (place < 2 ? 1 : -1);
  }, 0);
const repliesFrom = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => replyOf(from + i)).flatMap((reply, i) =>
    aspects.flatMap((aspect) => {
      const by = worth(aspect, reply);
      return by === 0 ? [] : [{ prompt: `q${from + i}`, reply, label: Number(by > 0), aspect }];
    }),
  );
const labels = written("replies.jsonl", repliesFrom(0, 200));
const fit = (from: string, file: string, ...more: string[]) =>
  inProcess(["judge", "--against", from, "--fit", file, "--json", ...more]);

test("each aspect of labels has a head of its own, measured on labels that it was not fitted to", async () => {
  const file = at("reward.json");
  const { code, out, err } = await fit(labels, file);
  assert.equal(code, 0, err);
  const report = JSON.parse(out);
  for (const aspect of aspects)
    assert.ok(report.aspects[aspect].auc.mean > 0.97, JSON.stringify(report.aspects));
  assert.match(report.version, /^[0-9a-f]{12}$/);
  const unseen = written("unseen.jsonl", [
    { prompt: "q", reply: "kind warm vague wrong" },
    { prompt: "q", reply: "rude cold exact sourced" },
    { prompt: "q", reply: "kind warm exact sourced" },
  ]);
  const scored = await inProcess(["judge", unseen, "--evaluator", file, "--out", at("scores.jsonl")]);
  assert.equal(scored.code, 0, scored.err);
  const rows = readFileSync(at("scores.jsonl"), "utf8").trim().split("\n");
  const [polite, right, both] = rows.map((line) => JSON.parse(line));
  assert.ok(both.score > 0.9 && polite.score < 0.7 && right.score < 0.7, rows.join("\n"));
  assert.ok(polite.aspects.tone > 0.45 && polite.aspects.facts < 0.1, rows[0]);
  assert.ok(right.aspects.tone < 0.1 && right.aspects.facts > 0.45, rows[1]);
});

test("labels without a pattern give a model that is no better than a coin where it was not fitted", async () => {
  const random = randomStream(7);
  const coins = repliesFrom(0, 200).map((row, i) => ({
    ...row,
    aspect: "coin",
    label: random.split(i).below(2),
  }));
  const { out } = await fit(written("coins.jsonl", coins), at("coins.json"));
  const { auc, aspects: none } = JSON.parse(out);
  assert.ok(auc.low < 0.5 && auc.high > 0.5, JSON.stringify(auc));
  assert.equal(none, undefined);
});

test("a judge beside labels of several aspects is reported for each", async () => {
  writeFileSync(
    at("tone.ts"),
    `export default { name: "tone", score: async (items) => items.map(({ reply }) => ({ score: /kind|warm/.test(reply) && !/rude|cold/.test(reply) ? 0.9 : 0.1 })) };`,
  );
  const args = ["judge", "--against", labels, "--evaluator", at("tone.ts"), "--repeats", "0"];
  const { aspects: found } = JSON.parse((await inProcess([...args, "--json"])).out);
  assert.ok(found.tone.accuracy.low > found.facts.accuracy.high, JSON.stringify(found));
  assert.match((await inProcess(args)).out, /aspect[\s\S]*\ntone[\s\S]*\nfacts[\s\S]*All aspects:/);
});

/** A store in which eight users rate and correct replies. */
async function storeOf(name: string): Promise<string> {
  const store = await openTrafficStore(at(name));
  await store.write(
    Array.from({ length: 80 }, (_, i) => {
      const reply = replyOf(i);
      const [id, who] = [`r${i}`, `person-${i % 8}`];
      const about = [{ response: id }];
      const rated = (aspect: Aspect) =>
        signal({
          id: `${id}-${aspect}`,
          kind: "reaction",
          channel: aspect,
          about,
          user: who,
          value: worth(aspect, reply) > 0 ? 1 : 0,
        });
      const made = response({
        ...{ id, session: `s${i}`, trajectory: `s${i}/0`, user: who, prompt: [user(`ask ${i}`)] },
        choices: [{ message: assistant(i === 3 ? `${reply} Zanzibar` : reply), stop: "eos" as const }],
      });
      const better = signal({
        id: `${id}-c`,
        kind: "correction",
        about,
        user: who,
        text: "kind warm exact sourced exact",
      });
      return [
        { kind: "response" as const, response: made },
        ...[rated("tone"), rated("facts"), better].map((one) => ({ kind: "signal" as const, signal: one })),
      ];
    }).flat(),
  );
  await store.close();
  return at(name);
}

test("a reward model of what users of a service said: ratings by channel, or corrections as pairs; no user's own words in it", async () => {
  const where = await storeOf("traffic.sqlite");
  const rated = await fit(where, at("rated.json"));
  assert.equal(rated.code, 0, rated.err);
  const report = JSON.parse(rated.out);
  assert.deepEqual([report.kind, Object.keys(report.aspects).sort()], ["replies", ["facts", "tone"]]);
  assert.ok(report.aspects.facts.auc.mean > 0.9, JSON.stringify(report.aspects.facts.auc));
  const text = readFileSync(at("rated.json"), "utf8");
  assert.ok(!/zanzibar|person-/i.test(text) && /sourced/.test(text), text);
  const pairs = await fit(where, at("pairs.json"), "--labels", "pairs");
  assert.equal(pairs.code, 0, pairs.err);
  assert.equal(JSON.parse(pairs.out).kind, "pairs");
  assert.ok(JSON.parse(pairs.out).accuracy.mean > 0.8, pairs.out);
});

test("what cannot be fitted is one clear line, and no file", async () => {
  const judge = at("tone.ts");
  const refused = async (args: readonly string[], expected: RegExp): Promise<void> => {
    const { code, err } = await inProcess(["judge", ...args]);
    assert.equal(code, 2, err);
    assert.match(err, expected);
    assert.ok(!existsSync(at("none.json")));
  };
  const none = ["--fit", at("none.json")];
  await refused(["--against", labels, ...none, "--evaluator", judge], /--fit: got it beside --evaluator/);
  await refused(["--against", labels, ...none, "--distil", at("d.json")], /--fit: got it beside --distil/);
  await refused(["--against", labels, ...none, "--labels", "pairs"], /--labels: got it beside a file/);
  await refused([labels, ...none, "--out", at("o.jsonl")], /--fit: got it beside scores/);
  const same = repliesFrom(0, 20).map((row) => ({ ...row, label: 1 }));
  await refused(["--against", written("same.jsonl", same), ...none], /labels about "tone" that are all 1/);
  const few = repliesFrom(0, 40).map((row, i) => ({ ...row, group: `person ${i % 3}` }));
  await refused(["--against", written("few.jsonl", few), ...none], /labels of 3 groups about "tone"/);
  const empty = await openTrafficStore(at("empty.sqlite"));
  await empty.close();
  await refused(["--against", at("empty.sqlite"), ...none], /in which nobody rated a reply/);
});
