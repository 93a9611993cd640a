/** Every route of `whetstone serve`, each with requests that it takes: what is malformed begins as one of these. */

/** Names of things that the server has. */
export interface There {
  /** Of the version that answered first. */
  readonly version: string;
  /** Of an artefact, which another version is told. */
  readonly artefact: string;
  readonly response: string;
  readonly session: string;
  readonly key: string;
  /** Of a run on the dashboard, where there is one. */
  readonly run: string;
}

export interface Endpoint {
  /** As the server registers it, such as `DELETE /v1/keys/:id`. */
  readonly route: string;
  /** Absent: the route's own path, which names nothing. */
  readonly path?: string;
  /** Absent: it takes none. */
  readonly body?: unknown;
  readonly headers?: readonly string[];
}

const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
const messages = [
  { role: "system", content: "be brief" },
  { role: "user", content: "hello" },
];
const chat = { model: "m", messages, temperature: 1, stream: false, n: 1, tools, metadata: { a: "b" } };
/** The other calls that the gateway passes on. */
const others = [
  {
    path: "/v1/responses",
    body: {
      model: "m",
      instructions: "be brief",
      previous_response_id: "r1",
      tools: [{ type: "function", name: "f", parameters: { type: "object" } }],
      input: [
        { role: "user", content: [{ type: "input_text", text: "hello" }] },
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: "1" },
        { type: "item_reference", id: "i" },
      ],
    },
  },
  {
    path: "/v1/messages",
    body: {
      model: "m",
      max_tokens: 5,
      system: [{ type: "text", text: "be brief" }],
      tools: [{ name: "f", input_schema: { type: "object" } }],
      metadata: { user_id: "u" },
      messages: [
        { role: "user", content: "hello" },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "1" }] },
      ],
    },
  },
  { path: "/v1/messages/count_tokens", body: { model: "m", messages } },
  { path: "/v1/embeddings", body: { model: "e", input: ["a", "b"] } },
  { path: "/v1/completions", body: { model: "m", prompt: ["a", [1, 2]], metadata: { a: "b" } } },
] as const;
/** Paths below which the gateway answers, as it registers them and as a client writes them. */
const bases = [
  ["/v1", "/v1"],
  ["/openai/v1", "/openai/v1"],
  ["/openai/deployments/:deployment", "/openai/deployments/m"],
  ["/openai", "/openai"],
] as const;
const feedback = {
  kind: "rating",
  response: "r1",
  value: 3,
  scale: [1, 5],
  user: "u",
  at: 1_700_000_000_000,
  tags: { a: "b" },
};
const preference = { kind: "preference", among: [{ response: "a" }, { session: "s" }], best: 0 };
const origins = {
  by: "person",
  from: { sessions: ["s1"], users: [], responses: ["r1"], signals: [] },
  trajectories: [],
};

/** Files of one artefact of each kind, as folders hold them. */
export const artefactFiles = {
  instructions: {
    "system.md": "Ask for the date.\n",
    "tools.json": JSON.stringify({ f: "finds flights" }),
    "examples.json": JSON.stringify([{ id: "e1", messages: [{ role: "user", content: "Two tickets" }] }]),
    "about.json": JSON.stringify({ "": { origins } }),
  },
  experience: {
    "lessons.md":
      "## strategy `s-1`\n\n> tickets\n\nAsk for the date.\n\n## warning\n\n> trains\n\n\\# is no heading.\n",
    "about.json": JSON.stringify({ "s-1": { origins, score: 0.5, shown: 3 } }),
  },
  cases: {
    "cases.md":
      "## success `c-1`\n\n> two tickets\n\nAsked for the date.\n\n## failure\n\n> a boat\n\nGuessed.\n",
    "about.json": JSON.stringify({ "c-1": { origins } }),
  },
  guide: { "frame.md": "Hint: {hint}\n", "guide.json": JSON.stringify({ policy: "runs/guide" }) },
  rubrics: { "rubrics.md": "## skill `r-1`\n\nAsks before it books.\n", "about.json": "{}" },
  tree: {
    "tree.md": "```text\nask\n```\n",
    "tree.json": JSON.stringify({ facts: ["open"], skills: ["ask"], idle: "ask" }),
  },
} as const;

/** Bodies that state a version by an artefact: every kind, and one that the store has. */
function toldBodies({ version, artefact }: There): readonly Record<string, unknown>[] {
  const inline = Object.entries(artefactFiles).map(([kind, files]) => ({
    artefact: { name: kind, kind, files, why: "because", parents: [artefact] },
    over: version,
    ...(kind === "guide" ? { guide: version } : {}),
    note: "n",
  }));
  return [...inline, { artefact, over: version, note: "n", parent: version }];
}

/** Every route at least once: a test compares them with those that the server registers. */
export function endpointsOf(there: There): readonly Endpoint[] {
  const { response, session, version, key, artefact, run } = there;
  const within = ["", "/session/s1", "/user/u1", "/user/u1/session/s1"] as const;
  const prefixes = ["", "/session/:session", "/user/:user", "/user/:user/session/:session"] as const;
  const gateway = prefixes.flatMap((prefix, i): Endpoint[] =>
    bases.flatMap(([base, written]): Endpoint[] => {
      const [route, path] = [`${prefix}${base}`, `${within[i]}${written}`];
      return [
        {
          route: `POST ${route}/chat/completions`,
          path: `${path}/chat/completions`,
          body: { ...chat, stream: i % 2 === 1 },
        },
        ...others.map((other) => ({
          route: `POST ${route}${other.path.slice("/v1".length)}`,
          path: `${path}${other.path.slice("/v1".length)}`,
          body: other.body,
        })),
        { route: `GET ${route}/models`, path: `${path}/models` },
      ];
    }),
  );
  const upstream = { url: "http://127.0.0.1:9/v1", model: "m", note: "n", exact: "raw" };
  return [
    ...gateway,
    { route: "GET /healthz" },
    { route: "GET /readyz" },
    { route: "GET /metrics" },
    { route: "POST /v1/feedback", body: feedback },
    { route: "POST /v1/feedback", body: [feedback, preference] },
    { route: "GET /v1/feedback", path: "/v1/feedback?response=r1&limit=5" },
    { route: "GET /v1/feedback.js" },
    { route: "POST /v1/feedback/tokens", body: { session: "s1", expiresIn: 60 } },
    { route: "GET /v1/responses/:id", path: `/v1/responses/${response}` },
    { route: "GET /v1/sessions", path: "/v1/sessions?limit=3&offset=2&text=a&failed=true&preview=true" },
    { route: "GET /v1/sessions/:id", path: `/v1/sessions/${session}` },
    { route: "POST /v1/keys", body: { label: "k", scopes: ["read"], expiresIn: 60 } },
    { route: "GET /v1/keys" },
    { route: "DELETE /v1/keys/:id", path: `/v1/keys/${key}` },
    {
      route: "POST /v1/traces",
      body: { resourceSpans: [{ scopeSpans: [{ spans: [{ name: "chat" }] }] }] },
    },
    { route: "POST /v1/versions", body: upstream },
    ...toldBodies(there).map((body) => ({ route: "POST /v1/versions", body })),
    { route: "POST /v1/versions", body: { firstOf: [version, version], note: "n" } },
    { route: "GET /v1/versions" },
    { route: "GET /v1/versions/judgement" },
    // whatever is sent in its place, calls are answered by versions that can answer
    { route: "POST /v1/splits", body: { shares: { [version]: 1 }, unit: "session", why: "because" } },
    { route: "GET /v1/splits" },
    { route: "GET /api/session" },
    { route: "POST /api/session", body: { key: "wst_0123_x" }, headers: ["origin: http://localhost"] },
    { route: "DELETE /api/session", headers: ["origin: http://localhost"] },
    { route: "GET /api/inbox" },
    { route: "GET /api/inbox/live" },
    { route: "GET /api/runs" },
    { route: "GET /api/runs/live" },
    { route: "GET /api/compare", path: `/api/compare?run=${run}` },
    { route: "GET /api/runs/:id", path: `/api/runs/${run}` },
    { route: "POST /api/runs/:id/tags", path: `/api/runs/${run}/tags`, body: { tags: ["a"] } },
    {
      route: "GET /api/runs/:id/curves",
      path: `/api/runs/${run}/curves?names=success&points=50&ranges=true`,
    },
    { route: "GET /api/comparisons" },
    { route: "GET /api/comparisons/:id", path: "/api/comparisons/compare-bandit-grpo-rloo" },
    { route: "GET /api/leagues" },
    { route: "GET /api/leagues/:id", path: "/api/leagues/league.jsonl" },
    {
      route: "GET /api/leagues/:id/games",
      path: "/api/leagues/league.jsonl/games?first=reference&second=random",
    },
    { route: "GET /api/runs/:id/live", path: `/api/runs/${run}/live` },
    {
      route: "GET /api/runs/:id/tasks",
      path: `/api/runs/${run}/tasks?order=progress&standing=frontier&offset=0&limit=5`,
    },
    {
      route: "GET /api/runs/:id/groups",
      path: `/api/runs/${run}/groups?from=0&until=5&outcome=success&least=0&text=a&order=best&offset=0&limit=5`,
    },
    {
      route: "GET /api/runs/:id/episodes",
      path: `/api/runs/${run}/episodes?from=0&until=5&outcome=success&least=0&text=a&order=best&offset=0&limit=5`,
    },
    {
      route: "GET /api/runs/:id/episode",
      path: `/api/runs/${run}/episode?id=e&phase=train&iteration=0`,
    },
    { route: "GET /api/methods" },
    { route: "GET /api/methods/:id", path: "/api/methods/grpo" },
    { route: "GET /api/artefacts" },
    { route: "GET /api/artefacts/:id", path: `/api/artefacts/${artefact}` },
    { route: "GET /api/*", path: "/api/nothing" },
    { route: "GET /assets/:file{[A-Za-z0-9_.-]+}", path: "/assets/index.js" },
    { route: "GET /*", path: "/" },
  ];
}

/** Its method and the path that it is asked under. */
export function asked({ route, path }: Endpoint): { readonly method: string; readonly path: string } {
  const [method = "", own = ""] = route.split(" ");
  return { method, path: path ?? own };
}
