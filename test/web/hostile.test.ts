import assert from "node:assert/strict";
import { test } from "node:test";
import type { Environment } from "../../src/env/environment.ts";
import { browser, pageTest } from "../pageTest.ts";
import { served } from "../serve/memory.ts";
import { echo, folder } from "../train/world.ts";
import { sideways } from "./looked.ts";
import { settled, show, train, watched, word } from "./world.ts";

const markup = `<img src=x onerror="alert(1)"><script>alert(2)</script><style>*{display:none}</style>`;
/** What turns the words that follow around, rings, moves the cursor, or is no character at all. */
const unseen = "\u202egnp.exe \u2066iso \u200f\u0007\u001b[2J\u0085\ufeff\ufffd \u{1f480}";
const elsewhere = "](http://198.51.100.1/a.png) url(http://198.51.100.1/b.png) https://198.51.100.1/c";
const hostile = `${markup} ${unseen} ${elsewhere}`;
const line = "A".repeat(1 << 20);

/** Says something hostile in every observation. */
function shouting(): Environment {
  const base = echo();
  return {
    ...base,
    vocabulary: () => [...(base.vocabulary?.() ?? []), "<b>bold</b>"],
    async start(task, random) {
      const episode = await base.start(task, random);
      return {
        ...episode,
        async act(action) {
          const said = await episode.act(action);
          return { ...said, text: hostile };
        },
      };
    },
  };
}

pageTest("what others wrote is text, whatever it is", async () => {
  const root = folder();
  const run = await train(root, `${markup.replaceAll("/", "")}`, {
    environment: shouting(),
    iterations: 1,
  });
  const shown = await show(root);
  const page = await (await browser()).newPage({ viewport: { width: 360, height: 800 } });
  try {
    await shown.store.setTags(run, ["<i>tag</i>", "\u202etag"]);
    const choices = [{ message: { role: "assistant" as const, content: hostile }, stop: "eos" as const }];
    const long = [{ message: { role: "assistant" as const, content: line }, stop: "eos" as const }];
    const prompt = [{ role: "user" as const, content: hostile }];
    const session = "<b>s</b>";
    await shown.production.write([
      {
        kind: "response",
        response: served({ id: "r1", session, user: hostile, version: "<u>v</u>", prompt, choices }),
      },
      { kind: "response", response: served({ id: "r2", session, trajectory: "2", prompt, choices: long }) },
      {
        kind: "signal",
        signal: word({ id: "a", about: [{ response: "r1" }], text: hostile, user: hostile }),
      },
      {
        kind: "signal",
        signal: word({ id: "b", about: [{ response: "r2" }], text: line, kind: "correction" }),
      },
      {
        kind: "signal",
        signal: word({ id: "c", about: [{ response: "r1" }], text: markup, kind: "reaction" }),
      },
    ]);
    const split = { since: 1, unit: "session", id: "x", shares: { "<u>v</u>": 1 }, why: hostile } as const;
    const backend = { kind: "upstream", url: "http://127.0.0.1:9/v1" } as const;
    await shown.production.addVersion({
      id: "<u>v</u>",
      name: "<u>v</u>",
      backend,
      created: 1,
      note: hostile,
    });
    await shown.production.addSplit(split);

    const { found } = await shown.store.searchTrajectories(run, {
      phase: "train",
      order: "newest",
      offset: 0,
      limit: 1,
    });
    const { id, phase, iteration } = found[0]!;
    const at = `/runs/${encodeURIComponent(run)}`;
    page.setDefaultTimeout(20_000);
    const bad = watched(page, shown.url);
    const places: readonly (readonly [path: string, ...words: string[]])[] = [
      ["/", "<img src=x", "<i>tag</i>"],
      [at, "<img src=x"],
      [`${at}/episodes`, "<img src=x"],
      [`${at}/episode?${new URLSearchParams({ id, phase, iteration: String(iteration) })}`, markup],
      [`/compare?${new URLSearchParams({ run })}`, "grpo"],
      ["/inbox", markup, line.slice(0, 2000)],
      ["/sessions", session, markup],
      [`/sessions/${encodeURIComponent(session)}`, markup, line.slice(0, 20_000)],
      ["/versions", "<u>v</u>", markup],
    ];
    for (const [path, ...words] of places) {
      await page.goto(shown.url + path);
      await settled(page);
      const text = await page.evaluate<string>("document.body.textContent");
      for (const said of words) assert.ok(text.includes(said), `${path} shows ${said.slice(0, 60)}`);
      assert.equal(await page.locator("main img, main script, main style, main i, main u").count(), 0, path);
      assert.ok((await sideways(page)) <= 0, `${path} scrolls sideways`);
    }
    assert.deepEqual(bad, []);
  } finally {
    await page.close();
    await shown.close();
  }
});

pageTest(
  "of hundreds of thousands of messages before a reply, a session shows the last thousand, and more of them when asked",
  async () => {
    const shown = await show(folder());
    const page = await (await browser()).newPage();
    try {
      const said = (n: number) => ({ role: "user" as const, content: `said ${n}` });
      const choices = Array.from({ length: 500 }, (_, k) => ({
        message: { role: "assistant" as const, content: `reply ${k}` },
        stop: "eos" as const,
      }));
      const prompt = Array.from({ length: 300_000 }, (_, n) => said(n));
      const many = Array.from({ length: 900 }, (_, n) => ({
        kind: "response" as const,
        response: served({
          id: `m${n}`,
          session: "many",
          trajectory: `many/${n % 30}`,
          turn: Math.floor(n / 30),
        }),
      }));
      await shown.production.write([
        {
          kind: "response",
          response: served({ id: "r1", session: "long", trajectory: "long/0", prompt, choices }),
        },
        ...many,
        { kind: "signal", signal: word({ id: "a", about: [{ response: "r1" }], text: line }) },
      ]);
      page.setDefaultTimeout(40_000);
      const elements = () => page.evaluate<number>("document.querySelectorAll('main *').length");
      await page.goto(`${shown.url}/sessions/long`);
      await page.getByText("299,000 earlier messages are not shown").waitFor();
      await page.getByText("said 299019", { exact: true }).waitFor();
      assert.ok((await elements()) < 1000, `${await elements()} elements`);
      assert.equal(await page.getByText("said 299020", { exact: true }).count(), 0);
      await page.getByRole("button", { name: "show 100 more of 980 messages" }).click();
      await page.getByText("said 299119", { exact: true }).waitFor();
      await page.getByRole("button", { name: "show 100 more of 490 replies" }).waitFor();

      // the reply that the address names is there, however far down it stands
      await page.goto(`${shown.url}/sessions/many#m899`);
      await page.locator("#m899").waitFor();
      const inbox = await (await fetch(`${shown.url}/api/inbox`)).text();
      assert.match(inbox, /more characters: see the session/);
      assert.ok(inbox.length < 20_000, `${inbox.length} characters`);
    } finally {
      await page.close();
      await shown.close();
    }
  },
);

test("a policy is sent that lets nothing but the page's own files run or be asked for", async () => {
  const shown = await show(folder());
  try {
    for (const path of ["/", "/runs/x", "/sessions/%3Cb%3E"]) {
      const { headers } = await fetch(shown.url + path);
      const policy = new Map(
        (headers.get("content-security-policy") ?? "").split("; ").map((rule) => {
          const [name, ...from] = rule.split(" ");
          return [name!, from];
        }),
      );
      assert.deepEqual(policy.get("default-src"), ["'none'"]);
      for (const kind of ["script-src", "style-src", "connect-src"])
        assert.deepEqual(policy.get(kind), ["'self'"]);
      for (const kind of ["base-uri", "form-action", "frame-ancestors"])
        assert.deepEqual(policy.get(kind), ["'none'"]);
      assert.doesNotMatch([...policy.values()].flat().join(" "), /unsafe|\*|http/);
      assert.equal(headers.get("x-content-type-options"), "nosniff");
    }
  } finally {
    await shown.close();
  }
});
