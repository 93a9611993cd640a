// Thumbs and a comment for every element with data-whetstone-response, sent to the server that this script came from.
// <script src="https://whetstone.example.com/v1/feedback.js" data-key="wsb_…" defer></script>
// A block with constants alone: none of its names reach the page.
{
  const script = document.currentScript;
  const settings = script?.dataset ?? {};
  const url = (settings.url ?? new URL(script?.src ?? location.href).origin).replace(/\/+$/, "");
  const words = {
    group: settings.labelGroup ?? "Feedback on this reply",
    good: settings.labelGood ?? "Good reply",
    bad: settings.labelBad ?? "Bad reply",
    comment: settings.labelComment ?? "What was good or bad about it? (optional)",
    send: settings.labelSend ?? "Send",
    thanks: settings.labelThanks ?? "Thank you",
    failed: settings.labelFailed ?? "Not sent. Please try again.",
  };

  // made in script, not in markup: allowed where inline styles are not
  const style = new CSSStyleSheet();
  style.replaceSync(`
    :host { display: block; color-scheme: light dark; font: inherit; font-size: 0.875em; margin-top: 0.5em; }
    div, form { display: flex; gap: 0.5em; align-items: center; flex-wrap: wrap; }
    form { margin-top: 0.5em; }
    form[hidden] { display: none; }
    button, textarea { font: inherit; color: inherit; background: transparent; border: 1px solid color-mix(in srgb, currentColor 35%, transparent); border-radius: 0.5em; }
    button { min-width: 2.75em; min-height: 2.5em; padding: 0.25em 0.75em; cursor: pointer; }
    button:hover { background: color-mix(in srgb, currentColor 10%, transparent); }
    button[aria-pressed="true"] { border-color: currentColor; background: color-mix(in srgb, currentColor 18%, transparent); }
    button:focus-visible, textarea:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
    label { flex-basis: 100%; }
    textarea { flex: 1 1 16em; min-height: 2.5em; padding: 0.4em 0.6em; resize: vertical; box-sizing: border-box; }
    svg { width: 1.25em; height: 1.25em; vertical-align: middle; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linejoin: round; stroke-linecap: round; }
    svg.down { transform: rotate(180deg); }
  `);

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const thumb = (down) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute(
      "d",
      "M7 11v9H4v-9h3zm0 0 4-8c1.5 0 2.5 1 2.5 2.5V9H19a1.8 1.8 0 0 1 1.8 2.1l-1.2 7A2 2 0 0 1 17.6 20H7",
    );
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    if (down) svg.setAttribute("class", "down");
    svg.append(path);
    return svg;
  };

  const randomKey = () =>
    Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  /** Ends at once when the page is left: nothing runs in it later. */
  const pause = (ms) =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        document.removeEventListener("visibilitychange", end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      document.addEventListener("visibilitychange", end);
    });

  /** Whether the server has it. Tried again a few times; with its key it is one signal however often it arrives. */
  const send = async (about, said) => {
    const { whetstoneResponse: response, whetstoneKey: own, whetstoneChoice: choice } = about.dataset;
    const key = own ?? settings.key;
    const body = JSON.stringify({
      ...said,
      response,
      ...(choice === undefined ? {} : { choice: Number(choice) }),
      at: Date.now(),
      key: randomKey(),
      tags: { via: "snippet" },
    });
    for (let tries = 0; ; tries++) {
      try {
        const answer = await fetch(`${url}/v1/feedback`, {
          method: "POST",
          headers: { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
          body,
          keepalive: true,
          credentials: "omit",
        });
        if (answer.ok) return true;
        if (answer.status !== 429 && answer.status < 500) return false;
      } catch {
        // no network: tried again like a busy server
      }
      if (tries === 4) return false;
      await pause(1000 * 2 ** tries);
    }
  };

  const attach = (about) => {
    if (about.querySelector(":scope > whetstone-feedback")) return;
    const host = document.createElement("whetstone-feedback");
    const root = host.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [style];
    const good = element(
      "button",
      { type: "button", "aria-label": words.good, "aria-pressed": "false" },
      thumb(false),
    );
    const bad = element(
      "button",
      { type: "button", "aria-label": words.bad, "aria-pressed": "false" },
      thumb(true),
    );
    const status = element("span", { role: "status" });
    const text = element("textarea", { id: "comment", rows: "1", maxlength: "10000" });
    const label = element("label", { for: "comment" }, words.comment);
    const form = element(
      "form",
      { hidden: "" },
      label,
      text,
      element("button", { type: "submit" }, words.send),
    );

    async function give(said) {
      status.textContent = "";
      const kept = await send(about, said);
      status.textContent = kept ? words.thanks : words.failed;
      if (kept) about.dispatchEvent(new CustomEvent("whetstone:feedback", { bubbles: true, detail: said }));
      return kept;
    }
    async function react(button, reaction) {
      if (button.getAttribute("aria-pressed") === "true") return;
      const before = [good, bad].find((b) => b.getAttribute("aria-pressed") === "true");
      for (const b of [good, bad]) b.setAttribute("aria-pressed", String(b === button));
      form.hidden = false;
      if (await give({ kind: "reaction", reaction })) return;
      if (button.getAttribute("aria-pressed") === "false") return;
      for (const b of [good, bad]) b.setAttribute("aria-pressed", String(b === before));
    }
    good.addEventListener("click", () => react(good, "thumbs_up"));
    bad.addEventListener("click", () => react(bad, "thumbs_down"));
    let underway = "";
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const said = text.value.trim();
      // pressed twice, it is one comment
      if (said === "" || said === underway) return;
      underway = said;
      const kept = await give({ kind: "comment", text: said });
      underway = "";
      if (!kept || text.value.trim() !== said) return;
      text.value = "";
      form.hidden = true;
      good.focus();
    });
    root.append(element("div", { role: "group", "aria-label": words.group }, good, bad, status), form);
    about.append(host);
  };

  const wanted = "[data-whetstone-response]";
  const attachWithin = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    if (node.matches(wanted)) attach(node);
    for (const about of node.querySelectorAll(wanted)) attach(about);
  };
  const begin = () => {
    attachWithin(document.documentElement);
    // replies come while the page is open
    new MutationObserver((changes) => {
      for (const { type, target, addedNodes } of changes) {
        if (type === "attributes") attachWithin(target);
        for (const node of addedNodes) attachWithin(node);
      }
    }).observe(document.documentElement, {
      childList: true,
      subtree: true,
      attributeFilter: ["data-whetstone-response"],
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
}
