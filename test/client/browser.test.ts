import assert from "node:assert/strict";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { browser, pageTest } from "../pageTest.ts";
import { listening } from "../serve/listening.ts";

const folder = join(import.meta.dirname, "..", "..", "src", "client");
const files = globSync("*.ts", { cwd: folder });

test("the client needs nothing but what browsers have", () => {
  assert.ok(files.length >= 5);
  for (const file of files) {
    const script = stripTypeScriptTypes(readFileSync(join(folder, file), "utf8"));
    for (const [, from] of script.matchAll(/^(?:import|export).*from "([^"]+)"/gm)) {
      assert.match(from ?? "", /^\.\//, file);
    }
    assert.doesNotMatch(script, /\b(process|Buffer|require)\b/, file);
  }
});

pageTest("in a browser, what still waits when the page is left arrives", async () => {
  const pages = createServer((request, response) => {
    const file = (request.url ?? "").slice(1);
    const script = files.includes(file) ? stripTypeScriptTypes(readFileSync(join(folder, file), "utf8")) : "";
    response.writeHead(200, { "content-type": script === "" ? "text/html" : "text/javascript" });
    response.end(script === "" ? "<!doctype html><title>Page</title>" : script);
  }).listen(0, "127.0.0.1");
  await once(pages, "listening");
  const address = pages.address();
  const page = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const server = await listening({ origins: [page] });
  const tab = await (await browser()).newPage();
  try {
    await tab.goto(page);
    const acknowledged: unknown = await tab.evaluate(`(async () => {
      const { whetstone } = await import("/index.ts");
      const at = { url: ${JSON.stringify(server.url)} };
      window.patient = whetstone({ ...at, gather: 60_000 });
      window.patient.feedback.comment("r1", "on my way out");
      // the page's own listener comes after the client's
      document.addEventListener("visibilitychange", () => window.patient.feedback.comment("r1", "last words"));
      return (await whetstone(at).feedback.reaction("r1", "thumbs_up")).duplicate;
    })()`);
    assert.equal(acknowledged, false);
    assert.deepEqual(
      server.kept.map((s) => s.text),
      ["thumbs_up"],
    );
    await tab.goto("about:blank");
    for (let i = 0; i < 100 && server.kept.length < 3; i++) await new Promise((go) => setTimeout(go, 50));
    assert.deepEqual(server.kept.map((s) => s.text).sort(), ["last words", "on my way out", "thumbs_up"]);
  } finally {
    await tab.close();
    pages.close();
    pages.closeAllConnections();
    await server.close();
  }
});
