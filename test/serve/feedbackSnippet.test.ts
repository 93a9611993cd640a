import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { mintKey } from "../../src/serve/keys.ts";
import { browser, pageTest } from "../pageTest.ts";
import { listening } from "./listening.ts";

test("the script is the same for everybody, remembered by browsers, and free of what a strict policy forbids", async () => {
  const server = await listening();
  try {
    const script = await fetch(`${server.url}/v1/feedback.js`);
    assert.match(script.headers.get("content-type") ?? "", /^text\/javascript/);
    const text = await script.text();
    assert.doesNotMatch(text, /\beval\b|new Function|innerHTML|\.style\b|document\.write/);
    assert.ok(text.length < 12_000, `${text.length} characters`);
    const etag = script.headers.get("etag") ?? "";
    const again = await fetch(`${server.url}/v1/feedback.js`, { headers: { "if-none-match": etag } });
    assert.equal(again.status, 304);
  } finally {
    await server.close();
  }
});

pageTest(
  "a thumb in a page of another site becomes a signal, by keyboard too, under a strict policy",
  async () => {
    const pages = createServer((_, response) => {
      const headers = {
        "content-type": "text/html",
        "content-security-policy": `default-src 'none'; script-src ${server.url}; connect-src ${server.url}`,
      };
      response.writeHead(200, headers).end(html);
    });
    await new Promise<void>((go) => pages.listen(0, "127.0.0.1", go));
    const address = pages.address();
    const page = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    const server = await listening({ open: false, origins: [page] });
    const { secret, key } = mintKey({ label: "app", scopes: ["feedback"] }, Date.now());
    await server.production.putKey(key);
    const answer = await fetch(`${server.url}/v1/feedback/tokens`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify({ session: "s1", user: "u1" }),
    });
    const { token }: { token: string } = JSON.parse(await answer.text());
    const html = `<!doctype html><html lang="en"><title>Help</title><main>
    <p data-whetstone-response="r1">A reply.</p></main>
    <script src="${server.url}/v1/feedback.js" data-key="${token}"></script></html>`;
    const tab = await (await browser()).newPage();
    try {
      const complaints: string[] = [];
      tab.on("console", (line) => complaints.push(line.text()));
      tab.on("pageerror", (e) => complaints.push(String(e)));
      await tab.goto(page);
      const good = tab.getByRole("button", { name: "Good reply" });
      await good.click();
      await tab.getByRole("status").getByText("Thank you").waitFor();
      assert.equal(await good.getAttribute("aria-pressed"), "true");
      await tab.getByLabel(/What was good or bad/).fill("to the point");
      await tab.keyboard.press("Tab");
      await tab.keyboard.press("Enter");
      await tab.getByLabel(/What was good or bad/).waitFor({ state: "hidden" });
      const given = server.kept.map((s) => [s.kind, s.text, s.user, s.source, s.about[0]?.response]);
      assert.deepEqual(given, [
        ["reaction", "thumbs_up", "u1", "user", "r1"],
        ["critique", "to the point", "u1", "user", "r1"],
      ]);
      // a reply that comes later, of another session: the token does not reach it, and the page says so
      await tab.evaluate(
        `document.querySelector("main").insertAdjacentHTML("beforeend", '<p data-whetstone-response="r2"></p>')`,
      );
      await tab.getByRole("button", { name: "Bad reply" }).nth(1).click();
      await tab.getByText("Not sent").waitFor();
      assert.equal(server.kept.length, 2);
      assert.equal(
        await tab.getByRole("button", { name: "Bad reply" }).nth(1).getAttribute("aria-pressed"),
        "false",
      );
      assert.deepEqual(
        complaints.filter((line) => !line.includes("403")),
        [],
      );
    } finally {
      await tab.close();
      pages.close();
      pages.closeAllConnections();
      await server.close();
    }
  },
);

pageTest(
  "a comment sent twice in one go is one comment, and what is tried again goes when the page is left",
  async () => {
    const html = `<!doctype html><html lang="en"><title>Help</title><main>
    <p data-whetstone-response="r1">A reply.</p></main><script src="/v1/feedback.js"></script></html>`;
    const server = await listening();
    const { promise: pressedTwice, resolve: answerNow } = Promise.withResolvers<void>();
    let busy = true;
    server.before.answer = async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/page") return new Response(html, { headers: { "content-type": "text/html" } });
      if (request.method !== "POST") return undefined;
      if (busy) return Response.json({}, { status: 503 });
      await pressedTwice;
      return undefined;
    };
    const tab = await (await browser()).newPage();
    const posts = () => server.asked.filter(({ method }) => method === "POST").length;
    try {
      await tab.goto(`${server.url}/page`);
      await tab.getByRole("button", { name: "Good reply" }).click();
      while (posts() < 2) await tab.waitForTimeout(20);
      busy = false;
      await tab.getByLabel(/What was good or bad/).fill("to the point");
      const send = tab.getByRole("button", { name: "Send" });
      await send.click();
      await send.click();
      answerNow();
      await tab.getByLabel(/What was good or bad/).waitFor({ state: "hidden" });
      // the thumb waits for its third try, which is two seconds away
      await tab.goto("about:blank");
      for (let i = 0; i < 50 && server.kept.length < 2; i++) await tab.waitForTimeout(20);
      assert.deepEqual(server.kept.map((s) => s.text).sort(), ["thumbs_up", "to the point"]);
    } finally {
      await tab.close();
      await server.close();
    }
  },
);
