/** docs/judges.md: its labels, its judge and its commands do what the page says. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chatServer } from "../cli/chatServer.ts";
import { inProcess } from "../cli/inProcess.ts";
import { temporary } from "../temporary.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/judges.md"), "utf8");
const block = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(page)?.[1] ?? "";
const commands = [...page.matchAll(/^ {4}whetstone (.*)$/gm)].map(([, line]) =>
  [...line!.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ""),
);

test("docs/judges.md: each command runs on the page's labels, with the page's judge or a model behind an API", async (t) => {
  const folder = mkdtempSync(join(temporary, "whetstone-judges-"));
  const before = process.cwd();
  process.chdir(folder);
  t.after(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  });
  writeFileSync("labels.jsonl", block("jsonl"));
  writeFileSync("my-judge.ts", block("ts"));
  const url = await chatServer(() => '{"why": "both are fine", "first": 0.5}');
  assert.equal(commands.length, 3);
  for (const words of commands) {
    const args = words.map((word) => (word.startsWith("http://") ? url : word));
    const { code, out, err } = await inProcess(args);
    assert.equal(code, 0, err);
    if (args.includes("--json")) {
      const report = JSON.parse(out);
      assert.deepEqual([report.type, report.judged, report.calls.answered], ["judge", 3, 15]);
      // shorter is better: right of Lima, wrong of Eleven and Twelve, which are equally long, and of the tie
      assert.equal(report.accuracy.mean, 1 / 3);
    } else assert.match(out, /3 of 3 pairs judged[\s\S]*position +not measured/);
  }
});
