import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { asked, endpointsOf, type There } from "../../bench/fuzz/endpoints.ts";
import type { Environment } from "../../src/env/environment.ts";
import { mintKey } from "../../src/serve/keys.ts";
import { serveOpenEnv } from "../../src/serve/openenv.ts";
import { browser, pageTest } from "../pageTest.ts";
import { echo } from "../train/world.ts";
import { alwaysHi, type WholeServer, wholeServer } from "./wholeServer.ts";

const attack = readFileSync(join(import.meta.dirname, "attack.browser.js"), "utf8").replace(
  /^\/\/.*\n/gm,
  "",
);

/** All that a page could change, and what was asked of whoever answers. */
async function stateOf({ production, store }: WholeServer, calls: readonly string[]) {
  return {
    keys: await production.keys(),
    versions: (await production.versions()).map(({ id }) => id),
    splits: await production.splits(),
    artefacts: (await production.artefacts.list()).map(({ id }) => id),
    tags: [...(await store.tags())],
    responses: (await collected(production.responses())).map(({ id }) => id),
    signals: await collected(production.signals()),
    calls: [...calls],
  };
}

async function collected<T>(all: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of all) items.push(item);
  return items;
}

/** Pages of any other site. */
async function otherSite(): Promise<{ readonly port: number; close(): void }> {
  const pages = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Page</title><body>");
  });
  await new Promise<void>((go) => pages.listen(0, "127.0.0.1", go));
  const address = pages.address();
  return {
    port: typeof address === "object" ? (address?.port ?? 0) : 0,
    close: () => {
      pages.close();
      pages.closeAllConnections();
    },
  };
}

const { secret, key } = mintKey({ label: "app", scopes: ["read", "feedback", "admin", "chat"] }, Date.now());

const script = "fetch without a preflight: GET /v1/feedback.js read, 200";
const feedback = "fetch: POST /v1/feedback read, 201";

/** `read` is what a listed page gets to see. */
const cases = [
  {
    title: "without keys",
    host: "127.0.0.1",
    unlisted: "unlisted.example",
    listed: "listed.example",
    shown: {},
    read: [script, "fetch: GET /v1/feedback.js read, 200", feedback, feedback],
  },
  {
    // the cookie goes to every port of a name, and the page has got hold of a key that may do everything
    title: "in the browser of somebody who is logged in",
    host: "0.0.0.0",
    unlisted: "127.0.0.1",
    listed: "127.0.0.1",
    shown: { authorization: `Bearer ${secret}` },
    read: [script, feedback, feedback],
  },
];

for (const { title, host, shown, read, ...names } of cases) {
  pageTest(
    `pages of other sites give feedback where they are listed, and can do nothing else: ${title}`,
    async () => {
      const [ours, theirs] = [await otherSite(), await otherSite()];
      const listed = `http://${names.listed}:${ours.port}`;
      const unlisted = `http://${names.unlisted}:${theirs.port}`;
      const calls: string[] = [];
      const whole = await wholeServer(
        alwaysHi((what) => calls.push(what)),
        { host, gate: { origins: [listed] } },
        (production) => production.putKey(key),
      );
      const port = new URL(whole.server.url).port;
      const server = `http://127.0.0.1:${port}`;
      const there: There = {
        version: whole.version,
        artefact: "a",
        response: "r",
        session: "s",
        key: key.id,
        run: "run",
      };
      const routes = endpointsOf(there);
      // a route that is new is one more to be attacked
      assert.deepEqual(new Set(routes.map(({ route }) => route)), new Set(whole.server.routes));
      const endpoints = routes.map((one) => ({ ...asked(one), body: one.body }));
      const context = await (await browser()).newContext();
      try {
        const tab = await context.newPage();
        const attackFrom = async (page: string, base: string, headers: object): Promise<unknown> => {
          await tab.goto(page);
          const about = [base, endpoints, headers].map((x) => JSON.stringify(x)).join();
          return await tab.evaluate(`(() => { ${attack}; return attack(${about}); })()`);
        };
        await tab.goto(server);
        assert.equal(await tab.evaluate(login), 201);
        const before = await stateOf(whole, calls);
        assert.deepEqual(await attackFrom(unlisted, server, shown), []);
        assert.deepEqual(await stateOf(whole, calls), before);
        if (host === "127.0.0.1") {
          // a name that leads here once its page is loaded: the browser takes the server for the page's own
          const rebound = `http://rebound.example:${port}/page`;
          await tab.route(rebound, (route) => route.fulfill({ contentType: "text/html", body: "<body>" }));
          assert.deepEqual(await attackFrom(rebound, "", {}), []);
          assert.deepEqual(await stateOf(whole, calls), before);
        }
        assert.deepEqual(await attackFrom(listed, server, shown), read);
        const { signals, ...after } = await stateOf(whole, calls);
        assert.deepEqual({ ...after, signals: [] }, before);
        assert.ok(signals.length > 0);
      } finally {
        await context.close();
        ours.close();
        theirs.close();
        await whole.close();
      }
    },
    // every route in every way: half a minute on two idle cores, and several on busy ones
    400_000,
  );
}

pageTest("no page plays an environment that is served here", async () => {
  const site = await otherSite();
  const environment = echo();
  let started = 0;
  const counted: Environment = {
    ...environment,
    start(...task) {
      started++;
      return environment.start(...task);
    },
  };
  const { url, close } = await serveOpenEnv({ environment: counted });
  const { port } = new URL(url);
  const endpoints = ["/health", "/metadata", "/schema", "/ws"].map((path) => ({ method: "GET", path }));
  const played = `(base) => new Promise((done) => {
    const socket = new WebSocket(base.replace("http", "ws") + "/ws");
    socket.onopen = () => socket.send(JSON.stringify({ type: "reset" }));
    socket.onmessage = ({ data }) => done(data);
    socket.onerror = () => done("refused");
  })`;
  const tab = await (await browser()).newPage();
  try {
    const rebound = `http://rebound.example:${port}`;
    await tab.route(`${rebound}/page`, (route) =>
      route.fulfill({ contentType: "text/html", body: "<body>" }),
    );
    for (const [page, base] of [
      [`http://unlisted.example:${site.port}`, url],
      [`http://127.0.0.1:${site.port}`, url],
      [`${rebound}/page`, rebound],
    ] as const) {
      await tab.goto(page);
      const about = JSON.stringify([base, endpoints]).slice(1, -1);
      assert.deepEqual(await tab.evaluate(`(() => { ${attack}; return attack(${about}); })()`), [], page);
      assert.equal(await tab.evaluate(`(${played})("${base}")`), "refused", page);
    }
    assert.equal(started, 0);
  } finally {
    await tab.close();
    site.close();
    await close();
  }
});

const login = `fetch("/api/session", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ key: "${secret}" }),
}).then((answer) => answer.status)`;
