/** The documentation site's own parts; `npm run site` builds the whole. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deadLinks, firstLoads } from "../../scripts/site/check.ts";
import { staged } from "../../scripts/site/staged.ts";

const stage = (text: string, file = "docs/gateway.md"): { page: string; named: string[] } => {
  const named: string[] = [];
  const page = staged(
    text,
    file,
    (name) => named.push(name),
    (picture) => picture.endsWith("loop.svg"),
  );
  return { page, named };
};

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "whetstone-site-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("links to files of the repository become links to pages, and name the files", () => {
  const { page, named } = stage(
    "[a](feedback.md#keys) [b](../src/train/loop.ts) [c](../src/methods/credit/igpo/method.ts) [d](https://x.example/y.md) [e](#here) [f](../README.md)",
  );
  assert.equal(
    page,
    "[a](/feedback.md#keys) [b](/source/src/train/loop.ts.md) [c](/methods/igpo.md) [d](https://x.example/y.md) [e](#here) [f](/overview.md)",
  );
  assert.deepEqual(named, [
    "docs/feedback.md",
    "src/train/loop.ts",
    "src/methods/credit/igpo/method.ts",
    "README.md",
  ]);
});

test("code keeps its links, tags and braces; text has neither tags nor templates", () => {
  const fence = "```ts\nconst a: Map<string> = {{ [b](c.md) }};\n```";
  assert.equal(stage(fence).page, fence);
  assert.equal(
    stage("`<T>[b](c.md){{}}` and <T> of {{x}}").page,
    "`<T>[b](c.md){{}}` and &lt;T> of &#123;&#123;x}}",
  );
  assert.deepEqual(stage(fence).named, []);
});

test("pictures of two themes become one for each", () => {
  const { page } = stage("![The loop](loop.svg)");
  assert.match(page, /class="light-only"[^>]*alt="The loop" src="\/files\/docs\/loop\.light\.svg"/);
  assert.match(page, /class="dark-only"[^>]*src="\/files\/docs\/loop\.dark\.svg"/);
  const both = stage(
    '<picture><source media="(prefers-color-scheme: dark)" srcset="docs/a-dark.png"><img alt="A" src="docs/a-light.png"></picture>',
    "README.md",
  );
  assert.match(both.page, /^<img class="light-only".*a-light\.png"><img class="dark-only".*a-dark\.png">$/);
  assert.deepEqual(both.named, ["docs/a-dark.png", "docs/a-light.png"]);
});

test("a page begins with its title", () => {
  assert.equal(stage("**totals**\n\n# Title\n\ntext\n").page, "# Title\n\n**totals**\n\ntext\n");
});

test("dead links and anchors are found, with and without a base", (t) => {
  for (const base of ["/", "/whetstone/"]) {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, "api"));
    writeFileSync(
      join(folder, "index.html"),
      `<a href="${base}api/">good</a><a href="${base}api/index.html#n%C3%A4me">good</a><a href="https://x.example/">out</a>`,
    );
    writeFileSync(
      join(folder, "api/index.html"),
      `<h1 id="näme"></h1><a href="#name">wrong</a><a href="${base}gone.html">wrong</a><img src="${base}gone.svg">`,
    );
    assert.deepEqual(deadLinks(folder, base), [
      "api/index.html: #name: the page has no such heading",
      `api/index.html: ${base}gone.html is not on the site`,
      `api/index.html: ${base}gone.svg is not on the site`,
    ]);
  }
});

test("a first load counts styles, scripts, fonts and pictures that are not deferred", (t) => {
  const folder = temporaryFolder(t);
  const html =
    '<link rel="stylesheet" href="/a.css"><link rel="preload stylesheet" href="/a.css"><link rel="modulepreload" href="/b.js"><link rel="icon" href="/c.png"><img loading="lazy" src="/c.png"><img src="/d.png">';
  writeFileSync(join(folder, "index.html"), html);
  for (const file of ["a.css", "b.js"]) writeFileSync(join(folder, file), "");
  for (const file of ["c.png", "d.png"]) writeFileSync(join(folder, file), Buffer.alloc(5000));
  const [load] = firstLoads(folder, "/");
  // the picture that is shown counts in full; two empty files and the page compress to far less than another thousand
  assert.ok(load !== undefined && load.bytes > 5000 && load.bytes < 6000, `${load?.bytes}`);
});
