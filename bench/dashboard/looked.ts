/** Pages in a browser by the clock: when something useful is seen, and how long an answer takes. */
import type { Browser, Page } from "playwright-core";
import { progress } from "../report.ts";
import type { Made } from "./store.ts";

export interface Seen {
  readonly page: string;
  readonly what: string;
  readonly kind: "first" | "answer";
  /** One for each round. */
  readonly ms: readonly number[];
}

/** Something that a person does, as a script in the page. */
interface Act {
  readonly what: string;
  readonly script: string;
  /** True in the page once the answer is there; frames are waited for until it is. */
  readonly until: string;
}

interface Look {
  readonly page: string;
  readonly path: string;
  /** What is useful: the first element that this selects. */
  readonly useful: string;
  /** True once everything has come. */
  readonly settled: string;
  readonly acts: readonly Act[];
}

const one = (selector: string): string => `document.querySelector(${JSON.stringify(selector)})`;
const key = (name: string): string => `dispatchEvent(new KeyboardEvent("keydown", { key: "${name}" }))`;
const typed = (selector: string, text: string): string =>
  `{ const field = ${one(selector)}; field.value = "${text}"; field.dispatchEvent(new Event("input", { bubbles: true })); }`;
/** What stands on the first chart. */
const drawn = `${one(".chart canvas")}?.toDataURL()`;
/** The last iteration on the first chart. */
const last = `Number(${one(".plot")}?.ariaValueMax)`;
/** Points of a curve that the page asks for. */
const points = 600;
const ended = (what: string): string =>
  `performance.getEntriesByType("resource").some(({ name, responseEnd }) => name.includes("${what}") && responseEnd > 0)`;
const status = `${one(".tools [role=status]")}.textContent`;

function looks({ runs, long, tokens, line, talk, prompt }: Made): readonly Look[] {
  const episode = (id: string): string => `/runs/${long}/episode?id=${id}&phase=train&iteration=0`;
  const chosen = `${one(".token.chosen")}?.dataset.token`;
  return [
    {
      page: "runs",
      path: "/",
      useful: ".runs tbody th",
      settled: `${status}.startsWith("${runs} of ${runs}")`,
      acts: [
        {
          what: "type into Find",
          script: typed("input[type=search]", "rloo"),
          until: `!${status}.startsWith("${runs} ")`,
        },
        {
          what: "empty Find",
          script: typed("input[type=search]", ""),
          until: `${status}.startsWith("${runs} ")`,
        },
        {
          what: "sort by name",
          script: `${one(".runs thead button")}.click()`,
          until: `${one(".runs thead th")}.ariaSort === "ascending"`,
        },
        {
          what: "choose a run",
          script: `${one(".runs tbody input")}.click()`,
          until: `${one(".runs tbody input")}.checked`,
        },
        {
          what: "scroll to the last",
          script: "scrollTo(0, document.documentElement.scrollHeight)",
          until: `${one(`.runs tr[aria-rowindex="${runs + 1}"]`)} !== null`,
        },
      ],
    },
    {
      page: "run",
      path: `/runs/${long}`,
      useful: ".chart canvas",
      // what lies between points is asked for only where there are more than a chart shows
      settled: `(${ended("ranges=true")}) || (${last} > 0 && ${last} < ${points})`,
      acts: [
        {
          what: "smooth",
          script: `globalThis.drawn = ${drawn}; ${typed("input[type=range]", "0.2")}`,
          until: `${drawn} !== globalThis.drawn`,
        },
        {
          what: "log axis",
          script: `globalThis.drawn = ${drawn}; ${one(".tools input[type=checkbox]")}.click()`,
          until: `${drawn} !== globalThis.drawn`,
        },
        {
          what: "step along a curve",
          script: `${one(".plot")}.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }))`,
          until: `${one(".plot")}.ariaValueText.startsWith("iteration")`,
        },
      ],
    },
    {
      page: "episode, many tokens",
      path: episode(tokens),
      useful: ".token",
      settled: `${one("ol.conversation")} !== null`,
      acts: [
        {
          what: "another layer",
          script: "document.querySelectorAll('[name=layer]')[1].click()",
          until:
            "document.querySelectorAll('[name=layer]')[1].checked && document.querySelector('.token[class*=much]') !== null",
        },
        { what: "first token", script: key("j"), until: `${chosen} === "0"` },
        { what: "next token", script: key("ArrowRight"), until: `${chosen} === "1"` },
        {
          what: "scroll to the end",
          script: "scrollTo(0, document.documentElement.scrollHeight)",
          until: "document.querySelectorAll('.tokens > span:last-child .token').length > 0",
        },
      ],
    },
    {
      page: "episode, long line",
      path: episode(line),
      useful: ".said .tokens",
      settled: `${one(".more")} !== null`,
      acts: [
        {
          what: "show more of it",
          script: `globalThis.before = document.documentElement.scrollHeight; ${one(".more")}.click()`,
          until: "document.documentElement.scrollHeight > globalThis.before",
        },
      ],
    },
    { page: "sessions", path: "/sessions", useful: "tbody td", settled: "true", acts: [] },
    {
      page: "session, many replies",
      path: `/sessions/${talk}`,
      useful: ".said .tokens",
      settled: `${one(".turn")} !== null`,
      acts: [
        {
          what: "scroll to the end",
          script: "scrollTo(0, document.documentElement.scrollHeight)",
          until: "document.documentElement.scrollTop > 0",
        },
      ],
    },
    {
      page: "session, a long prompt",
      path: `/sessions/${prompt}`,
      useful: ".said .tokens",
      settled: `${one(".turn")} !== null`,
      acts: [],
    },
  ];
}

/** Notes the first frame on which the element stands, in milliseconds since the page began to load. */
const watch = (selector: string): string => `
  const look = () => ${one(selector)} ? requestAnimationFrame(() => setTimeout(() => { globalThis.useful = performance.now(); })) : requestAnimationFrame(look);
  look();
`;
/** Milliseconds after which an answer is given up. */
const longest = 30_000;
const once = (condition: string): string => `new Promise((done) => {
  const look = () => (${condition}) ? done() : requestAnimationFrame(look);
  look();
})`;
/** From just before the act to the frame after its answer. */
const timed = ({ what, script, until }: Act): string => `new Promise((done, fail) => {
  const began = performance.now();
  ${script};
  const look = () => requestAnimationFrame(() => {
    if (${until}) setTimeout(() => done(performance.now() - began));
    else if (performance.now() - began > ${longest}) fail(new Error("no answer: ${what}"));
    else look();
  });
  look();
})`;

export async function looked(
  browser: Browser,
  url: string,
  made: Made,
  rounds: number,
): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  for (const { page: name, path, useful, settled, acts } of looks(made)) {
    const first: number[] = [];
    const answers = acts.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      progress(`${name}: round ${round + 1} of ${rounds}`);
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      const page = await context.newPage();
      await page.addInitScript(watch(useful));
      await page.goto(`${url}${path}`);
      // a policy that forbids eval leaves no other way to wait
      await page.evaluate<void>(once(`globalThis.useful !== undefined && (${settled})`));
      first.push(await page.evaluate<number>("globalThis.useful"));
      for (const [i, act] of acts.entries()) answers[i]!.push(await answered(page, act));
      await context.close();
    }
    seen.push({ page: name, what: "something useful", kind: "first", ms: first });
    for (const [i, { what }] of acts.entries())
      seen.push({ page: name, what, kind: "answer", ms: answers[i]! });
  }
  return seen;
}

async function answered(page: Page, act: Act): Promise<number> {
  await page.waitForTimeout(200);
  return page.evaluate<number>(timed(act));
}
