/** `whetstone judge --fit`: a reward model of what people said, with a head for each aspect. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { labelsFrom } from "../../src/cli/labelSource.ts";
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
  assert.ok(polite.aspects.tone > 0.9 && polite.aspects.facts < 0.2, rows[0]);
  assert.ok(right.aspects.tone < 0.2 && right.aspects.facts > 0.9, rows[1]);
  // on new labels, each aspect is held against its own head
  const fresh = written("fresh.jsonl", repliesFrom(1000, 1200));
  const against = await inProcess(["judge", "--against", fresh, "--evaluator", file, "--json"]);
  const { aspects: seen, auc } = JSON.parse(against.out);
  assert.equal(auc, undefined);
  for (const aspect of aspects) assert.ok(seen[aspect].auc.mean > 0.97, JSON.stringify(seen));
  assert.doesNotMatch(against.err, /was fitted/);
  const own = await inProcess(["judge", "--against", labels, "--evaluator", file, "--json"]);
  assert.match(own.err, /reward\.json was fitted to 300 of these 300 labels/);
});

test("labels without a pattern give a model that is no better than a coin where it was not fitted", async () => {
  const random = randomStream(7);
  const coins = repliesFrom(0, 200).map((row, i) => ({
    ...row,
    aspect: "coin",
    label: random.split(i).below(2),
  }));
  const { out } = await fit(written("coins.jsonl", coins), at("coins.json"));
  const { auc } = JSON.parse(out).aspects.coin;
  assert.ok(auc.low < 0.5 && auc.high > 0.5, JSON.stringify(auc));
});

test("what five people say of the same replies is held out with them: coins that they agree on are not learnt", async () => {
  const random = randomStream(9);
  const rows = Array.from({ length: 60 }, (_, i) => ({
    prompt: `q${i}`,
    reply: replyOf(i),
    label: random.split(i).below(2),
  }));
  const people = rows.flatMap((row) =>
    Array.from({ length: 5 }, (_, k) => ({ ...row, group: `person ${k}` })),
  );
  const { out, err } = await fit(written("people.jsonl", people), at("people.json"));
  const { accuracy } = JSON.parse(out || err).aspects.overall;
  assert.ok(accuracy.mean < 0.7, JSON.stringify(accuracy));
});

test("aspects that differ in how often they are good are not told from replies", async () => {
  const random = randomStream(11);
  const rows = Array.from({ length: 200 }, (_, i) =>
    [0.9, 0.1].map((often, k) => ({
      ...{ prompt: `q${i}`, reply: replyOf(i), aspect: `coin ${k}` },
      label: Number(random.split(i).split(k).next() < often),
    })),
  ).flat();
  const report = JSON.parse((await fit(written("often.jsonl", rows), at("often.json"))).out);
  assert.deepEqual([report.auc, report.kappa, report.accuracy], [undefined, undefined, undefined]);
  for (const k of [0, 1])
    assert.ok(report.aspects[`coin ${k}`].kappa.low < 0.1, JSON.stringify(report.aspects));
});

test("an aspect that nothing can be fitted to is left out, and said; names reach the terminal as text", async () => {
  const rare = Array.from({ length: 3 }, (_, i) => ({
    prompt: `r${i}`,
    reply: "warm",
    label: 1,
    aspect: "stars",
  }));
  const forged = repliesFrom(0, 60).map((row) =>
    row.aspect === "tone"
      ? { ...row, aspect: "\u001b[31mred\nWritten: forged" }
      : { ...row, aspect: "__proto__" },
  );
  const from = written("rare.jsonl", [...rare, ...forged]);
  const { code, out, err } = await inProcess(["judge", "--against", from, "--fit", at("rare.json")]);
  assert.equal(code, 0, err);
  assert.match(out, /Left out: 3 labels about stars, as all say the same/);
  assert.ok(!out.includes("\u001b") && !/^Written: forged/m.test(out), out);
  const { heads } = JSON.parse(readFileSync(at("rare.json"), "utf8"));
  assert.deepEqual(heads.map(({ name }: { name: string }) => name).toSorted()[1], "__proto__");
});

test("a judge beside labels of several aspects is reported for each", async () => {
  writeFileSync(
    at("tone.ts"),
    `export default { name: "tone", score: async (items) => items.map(({ reply }) => ({ score: /kind|warm/.test(reply) && !/rude|cold/.test(reply) ? 0.9 : 0.1 })) };`,
  );
  const args = ["judge", "--against", labels, "--evaluator", at("tone.ts"), "--repeats", "0"];
  const { aspects: found } = JSON.parse((await inProcess([...args, "--json"])).out);
  assert.ok(found.tone.accuracy.low > found.facts.accuracy.high, JSON.stringify(found));
  assert.match(
    (await inProcess(args)).out,
    /aspect[\s\S]*\ntone .*\nfacts [\s\S]*\ntone:\n[\s\S]*\nfacts:\n/,
  );
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

test("a reward model of what users of a service said: ratings by channel, or corrections as pairs; no word that one user alone has", async () => {
  const where = await storeOf("traffic.sqlite");
  const rated = await fit(where, at("rated.json"));
  assert.equal(rated.code, 0, rated.err);
  const report = JSON.parse(rated.out);
  assert.deepEqual([report.kind, Object.keys(report.aspects).sort()], ["replies", ["facts", "tone"]]);
  assert.ok(report.aspects.facts.auc.mean > 0.8, JSON.stringify(report.aspects.facts.auc));
  const text = readFileSync(at("rated.json"), "utf8");
  assert.ok(!/zanzibar|person-/i.test(text) && /sourced/.test(text), text);
  const pairs = await fit(where, at("pairs.json"), "--labels", "pairs");
  assert.equal(pairs.code, 0, pairs.err);
  assert.equal(JSON.parse(pairs.out).kind, "pairs");
  const { accuracy, swap } = JSON.parse(pairs.out).aspects.thumb;
  assert.ok(accuracy.mean > 0.8 && swap === undefined, pairs.out);
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
  await refused(["--against", labels, ...none, "--repeats", "3"], /--fit: got it beside --repeats/);
  await refused(
    ["--against", labels, "--fit", at("none")],
    /--fit: got .*none, expected a name that ends in \.json/,
  );
  await refused(
    ["--against", at("gone.sqlite"), ...none, "--labels", "pairs"],
    /gone\.sqlite, which is not there/,
  );
  await refused(none, /--fit: got no --against/);
  await refused(["--against", labels, ...none, "--labels", "pairs"], /--labels: got it beside a file/);
  await refused([labels, ...none, "--out", at("o.jsonl")], /--fit: got it beside --out/);
  const same = repliesFrom(0, 20).map((row) => ({ ...row, label: 1 }));
  await refused(
    ["--against", written("same.jsonl", same), ...none],
    /labels about "(tone|facts)": all say the same/,
  );
  const few = repliesFrom(0, 40).map((row, i) => ({ ...row, group: `person ${i % 3}` }));
  await refused(
    ["--against", written("few.jsonl", few), ...none],
    /labels about "(tone|facts)": they are of 3 groups, and 5 are needed/,
  );
  const ties = Array.from({ length: 12 }, (_, i) => ({
    prompt: `q${i}`,
    a: "kind",
    b: "rude",
    preferred: "tie",
  }));
  await refused(["--against", written("ties.jsonl", ties), ...none], /all say the same/);
  // a correction, or a student, is of one number
  const file = at("reward.json");
  const oneNumber = ["--against", labels, "--evaluator"];
  await refused([...oneNumber, judge, "--distil", at("none.json")], /--distil: got labels of 2 aspects/);
  await refused(
    [...oneNumber, judge, "--fit-calibration", at("none.json")],
    /--fit-calibration: got labels of 2 aspects/,
  );
  const tone = written(
    "tone.jsonl",
    repliesFrom(0, 60).filter(({ aspect }) => aspect === "tone"),
  );
  const heads = ["--against", tone, "--evaluator", file, "--fit-calibration", at("none.json")];
  await refused(heads, /--fit-calibration: got a judge with several heads/);
  await refused(
    [
      "--against",
      written(
        "threes.jsonl",
        few.filter(({ aspect }) => aspect === "tone"),
      ),
      "--evaluator",
      judge,
      "--distil",
      at("none.json"),
    ],
    /they are of 3 groups/,
  );
  // what a judge said is no label of people
  const judged = await openTrafficStore(at("judged.sqlite"));
  await judged.write([
    { kind: "response", response: response({ id: "r" }) },
    { kind: "signal", signal: signal({ id: "j", kind: "reaction", value: 1, source: "judge:other" }) },
  ]);
  await judged.close();
  await refused(["--against", at("judged.sqlite"), ...none], /in which nobody rated a reply/);
});

test("a label that shares a person or a prompt with every other one is not measured: nothing is left to fit", async () => {
  // one person labels all prompts, four others the first prompt alone
  const words = ["kind warm", "rude cold", "kind exact", "rude vague", "warm sourced"];
  const all = words.map((reply, i) => ({
    prompt: `q${i}`,
    reply,
    label: Number(!/rude/.test(reply)),
    group: "all",
  }));
  const first = [1, 2, 3, 4].map((k) => ({ ...all[0]!, group: `first ${k}` }));
  const { code, out, err } = await fit(written("star.jsonl", [...all, ...first]), at("star.json"));
  assert.equal(code, 0, err);
  const { overall } = JSON.parse(out).aspects;
  assert.deepEqual([overall.labels, overall.judged], [8, 8]); // all but the first prompt's label of the first person
});

test("scores that go on keep each aspect, whatever its name", async () => {
  const rows = repliesFrom(0, 60).map((row) => ({
    ...row,
    aspect: row.aspect === "tone" ? "__proto__" : "facts",
  }));
  const model = at("proto.json");
  assert.equal((await fit(written("proto.jsonl", rows), model)).code, 0);
  const asked = written(
    "asked.jsonl",
    Array.from({ length: 8 }, (_, i) => ({ prompt: "q", reply: replyOf(i) })),
  );
  const args = ["judge", asked, "--evaluator", model, "--out", at("kept.jsonl")];
  assert.equal((await inProcess([...args, "--estimate"])).code, 0);
  const done = await inProcess(args);
  assert.equal(done.code, 0, done.err);
  const lines = readFileSync(at("kept.jsonl"), "utf8").trim().split("\n");
  for (const line of lines)
    assert.deepEqual(Object.keys(JSON.parse(line).aspects).sort(), ["__proto__", "facts"], line);
});

test("a preference with a probability: the likelier reply is preferred, and one half is a tie", async () => {
  const store = await openTrafficStore(at("unsure.sqlite"));
  const replies = [0, 1, 2].flatMap((i) =>
    ["good", "bad"].map((says) => {
      const id = `${says} ${i}`;
      return response({
        id,
        session: id,
        trajectory: `${id}/0`,
        choices: [{ message: assistant(id), stop: "eos" }],
      });
    }),
  );
  // "bad" is called the best, with much doubt, as if by a coin, and with little doubt
  const said = [0.1, 0.5, 0.9].map((value, i) => {
    const about = [{ response: `good ${i}` }, { response: `bad ${i}` }];
    return signal({ id: `${i}`, kind: "preference", about, best: 1, value });
  });
  await store.write([
    ...replies.map((made) => ({ kind: "response" as const, response: made })),
    ...said.map((one) => ({ kind: "signal" as const, signal: one })),
  ]);
  await store.close();
  const { labels } = await labelsFrom(at("unsure.sqlite"), "pairs");
  const preferred = labels.map(
    (label) => "a" in label && (label.preferred === "tie" ? "tie" : label[label.preferred]),
  );
  assert.deepEqual(preferred.toSorted(), ["bad 2", "good 0", "tie"]);
});
