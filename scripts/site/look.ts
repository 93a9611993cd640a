/** Looks at the built site in a browser: width, accessibility, what every page must have, and the search of the catalogue. */
import { globSync } from "node:fs";
import type { Page } from "playwright-core";
import { catalogue } from "../../src/methods/catalogue.ts";
import { openBrowser } from "../../test/browser.ts";
import { type Question, questions } from "../../test/method/questions.ts";
import { serious, sideways } from "../../test/web/looked.ts";
import { staticServer } from "../../test/web/staticServer.ts";

/** Pixels: a phone, a tablet, a laptop. */
const widths = [360, 800, 1280];
/** Of pages that one template makes, each so many-th is looked at. */
const everyNth = { methods: 20, api: 6, source: 20, bench: 6 } as const;

/** The rules of accessibility take seconds a page, and all pages have the same parts. */
const everyThird = 3;

/** @param folder of the built site, made for the root of a host. @returns a line for each fault. */
export async function lookedAt(folder: string): Promise<readonly string[]> {
  const pages = globSync("**/*.html", { cwd: folder })
    .map((page) => page.replaceAll("\\", "/"))
    .filter((page) => !page.startsWith("learn/") && page !== "404.html")
    .sort();
  const chosen = pages.filter((page, i) => {
    const [kind = ""] = page.split("/");
    const nth = page.includes("/") ? (everyNth as Readonly<Record<string, number>>)[kind] : undefined;
    return nth === undefined || i % nth === 0;
  });
  const server = await staticServer(folder);
  const browser = await openBrowser();
  const faults: string[] = [];
  try {
    const page = await browser.newPage();
    // colours fade from theme to theme, and would be measured on their way
    await page.addInitScript(`addEventListener("DOMContentLoaded", () =>
      document.head.append(Object.assign(document.createElement("style"), { textContent: "* { transition: none !important }" })))`);
    for (const [i, path] of chosen.entries()) {
      await page.setViewportSize({ width: widths[0]!, height: 800 });
      await page.goto(`${server.url}${path}`);
      const found = [...(await wide(page)), ...(await incomplete(page))];
      if (path === "index.html" || i % everyThird === 0) found.push(...(await inBothThemes(page)));
      faults.push(...found.map((fault) => `${path}: ${fault}`));
    }
    faults.push(...(await unanswered(page, server.url)), ...(await unansweredInTheBar(page, server.url)));
  } finally {
    await browser.close();
    server.close();
  }
  return faults;
}

async function wide(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    const over = await sideways(page);
    if (over > 0) found.push(`at ${width} pixels the page scrolls sideways by ${over}`);
  }
  return found;
}

/** What a search engine, a reader of the page's text and a phone need. */
const incomplete = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`(() => {
    const has = (selector) => document.querySelector(selector) !== null;
    const text = (selector, name) => document.querySelector(selector)?.getAttribute(name)?.trim();
    return [
      document.title.trim() === "" && "no title",
      !document.documentElement.lang && "no language",
      !text('meta[name="description"]', "content") && "no description",
      !text('meta[name="viewport"]', "content")?.includes("width=device-width") && "no viewport of the device's width",
      document.querySelectorAll("h1").length !== 1 && document.querySelectorAll("h1").length + " headings of the first level",
      has("img:not([alt])") && "a picture without a text",
    ].filter(Boolean);
  })()`);

/** Elements: on longer pages the rules take minutes. They have the parts of shorter pages, only more of them. */
const long = 5000;

async function inBothThemes(page: Page): Promise<readonly string[]> {
  const elements = await page.evaluate<number>(`document.querySelectorAll("*").length`);
  if (elements > long) return [];
  const light = await serious(page);
  await page.evaluate(`document.documentElement.classList.add("dark")`);
  const dark = await serious(page, ["color-contrast"]);
  await page.evaluate(`document.documentElement.classList.remove("dark")`);
  return [...light, ...dark.map((fault) => `dark: ${fault}`)];
}

/** Of the forty questions of users, so many get a right answer first. */
const fewest = 34;

const family = new Map(catalogue.map((entry) => [entry.id, entry.family]));
const isRight = ({ first }: Question, id: string): boolean =>
  first.includes(id) || first.includes(`family:${family.get(id)}`);

async function unanswered(page: Page, url: string): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const question of questions) {
    const { ask } = question;
    await page.goto(`${url}catalogue.html?${new URLSearchParams({ q: ask })}`);
    const hit = page.locator(".find .found li").first();
    await hit.waitFor();
    const id = await hit.locator("a").innerText();
    const why = await hit.locator(".why").innerText();
    if (!isRight(question, id)) wrong.push(ask);
    if (!/^It \w+ \S.*\.$/.test(why)) return [`catalogue.html: ${id} is found for "${ask}" without a reason`];
  }
  return questions.length - wrong.length < fewest
    ? [
        `catalogue.html: ${wrong.length} of ${questions.length} questions get a wrong answer: ${wrong.join("; ")}`,
      ]
    : [];
}

/** The search on every page, with the questions that the start page names. */
async function unansweredInTheBar(page: Page, url: string): Promise<readonly string[]> {
  await page.goto(`${url}feedback.html`);
  await page.locator(".VPNavBarSearch button").first().click();
  const wrong: string[] = [];
  for (const question of questions.slice(0, 4)) {
    // the answers of the question before are gone once nothing is asked
    await page.locator("#localsearch-input").fill("");
    await page.locator(".methods-found").waitFor({ state: "detached" });
    await page.locator("#localsearch-input").fill(question.ask);
    const id = await page.locator(".methods-found li a").first().innerText();
    if (!isRight(question, id)) wrong.push(`search on every page: "${question.ask}" finds ${id} first`);
  }
  return wrong;
}
