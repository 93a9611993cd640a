/** What is wrong with a page as people see it. */
import axe from "axe-core";
import type { Page } from "playwright-core";

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe-core holds against a page, of what is serious or critical. @param rules all where none are named. */
export async function serious(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (await page.evaluate<boolean>("window.axe === undefined")) await page.evaluate(axe.source);
  const only = rules ? { runOnly: { type: "rule", values: rules } } : {};
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(document, ${JSON.stringify({ ...only, resultTypes: ["violations"] })}).then((r) => r.violations)`,
  );
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
}

/** Pixels by which the page is wider than the window, after the layout has adapted to the window's size. */
export const sideways = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise((done) => {
    const measure = () => done(document.documentElement.scrollWidth - innerWidth);
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(measure)));
  })`);
