// What a page can do to a server: every endpoint in every way that browsers have. Gives what the page could read or open.
// biome-ignore lint/correctness/noUnusedVariables: the page calls it
async function attack(base, endpoints, headers) {
  const got = [];
  // what is still queued behind others on a busy machine has been refused by nobody
  const longest = 10_000;
  const json = { "content-type": "application/json", ...headers };
  const sent = ({ method, body }) => (method === "GET" ? {} : { body: JSON.stringify(body) ?? "" });

  async function fetched({ method, path, body }, more) {
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), longest);
    try {
      const answer = await fetch(base + path, {
        method,
        signal: ending.signal,
        ...sent({ method, body }),
        ...more,
      });
      return answer.ok ? `read, ${answer.status}` : undefined;
    } finally {
      clearTimeout(timer);
      // an open stream would keep one of the browser's six connections
      ending.abort();
    }
  }
  /** Loads in an element of the page; nothing of it can be read. */
  const loaded = (name, attributes) =>
    new Promise((done) => {
      const element = document.createElement(name);
      for (const event of ["load", "error"]) element.addEventListener(event, done, { once: true });
      setTimeout(done, 1500);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      document.body.append(element);
    });
  function submitted({ method, path, body }) {
    if (method === "GET") return;
    const name = `f${Math.random()}`;
    const frame = Object.assign(document.createElement("iframe"), { name });
    const form = document.createElement("form");
    const target = { action: base + path, method: "POST", enctype: "text/plain", target: name };
    for (const [key, value] of Object.entries(target)) form.setAttribute(key, value);
    // {"a":1,"_":"="} as a field and its value
    const field = document.createElement("input");
    field.name = `${JSON.stringify(body ?? {}).slice(0, -1)},"_":"`;
    field.value = '"}';
    form.append(field);
    document.body.append(frame, form);
    form.submit();
    return new Promise((done) => setTimeout(done, 300));
  }
  /** From a frame of no origin at all. */
  function sandboxed() {
    const asked = endpoints.map(({ method, path, body }) => [
      base + path,
      { method, headers: json, ...sent({ method, body }) },
    ]);
    const script = `
      const read = ([url, init]) => fetch(url, init).then((a) => (a.ok ? [init.method + " " + url] : []), () => []);
      Promise.all(${JSON.stringify(asked)}.map(read)).then((all) => parent.postMessage(all.flat(), "*"));`;
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.setAttribute("srcdoc", `<script>${script.replaceAll("</", "<\\/")}</script>`);
    document.body.append(frame);
    return new Promise((done) => addEventListener("message", ({ data }) => done(data), { once: true }));
  }
  function connected({ path }) {
    return new Promise((done) => {
      const socket = new WebSocket(new URL(base + path, location.href).href.replace(/^http/, "ws"));
      socket.onopen = () => done(`socket: GET ${path}`);
      socket.onerror = () => done();
    });
  }

  const ways = {
    fetch: (endpoint) => fetched(endpoint, { headers: json }),
    "fetch with cookies": (endpoint) => fetched(endpoint, { headers: json, credentials: "include" }),
    "fetch without a preflight": (endpoint) => fetched(endpoint, {}),
    "fetch of nothing readable": (endpoint) => {
      // without a type, which no form can leave out
      const body = endpoint.method === "GET" ? {} : { body: new Blob([JSON.stringify(endpoint.body) ?? ""]) };
      const simple = { method: endpoint.method === "DELETE" ? "POST" : endpoint.method, ...body };
      return fetched(endpoint, {
        ...simple,
        mode: "no-cors",
        referrerPolicy: "no-referrer",
        credentials: "include",
      });
    },
    beacon: ({ path, body }) =>
      navigator.sendBeacon(base + path, new Blob([JSON.stringify(body) ?? ""])) && undefined,
    form: submitted,
    image: ({ method, path }) =>
      method === "GET" && loaded("img", { src: base + path }).then(() => undefined),
    frame: ({ method, path }) =>
      method === "GET" && loaded("iframe", { src: base + path }).then(() => undefined),
  };
  for (const [way, attempt] of Object.entries(ways)) {
    await Promise.all(
      endpoints.map(async (endpoint) => {
        const what = await Promise.resolve(attempt(endpoint)).catch(() => undefined);
        if (what) got.push(`${way}: ${endpoint.method} ${endpoint.path} ${what}`);
      }),
    );
    document.body.replaceChildren();
  }
  for (const read of await sandboxed()) got.push(`sandbox: ${read}`);
  // browsers make a page wait that opens many
  const looks = endpoints.filter(({ method }) => method === "GET").slice(0, 6);
  for (const opened of await Promise.all(looks.map(connected))) if (opened) got.push(opened);
  return got.sort();
}
