/** Tests of pages in a real browser. Each of them ends: an answer that never comes costs one test and a minute. */
import { after, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { messageOf } from "../src/core/errors.ts";
import { noBrowser, openBrowser } from "./browser.ts";
import { atEnd } from "./room.ts";

/** Milliseconds that a test may take, and after them the call that it waits for, to fail. */
const [most, grace] = [60_000, 5_000];

let launched: Promise<Browser> | undefined;
atEnd(async () => (await launched)?.close());

/** One for all tests of a process: what is asked for with `newPage` shares neither cookies nor caches, and is to be closed. */
export function browser(): Promise<Browser> {
  launched ??= openBrowser();
  return launched;
}

/**
 * Does work with pages. After `ms` milliseconds they are all closed, which fails the call that waits for one of them: the
 * error says which call, and its cause where it stands. A browser that does not answer even then is left to itself.
 */
export async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const { promise: unanswered, reject } = Promise.withResolvers<never>();
  let late = false;
  const close = setTimeout(async () => {
    late = true;
    for (const context of (await launched)?.contexts() ?? []) void context.close().catch(() => {});
  }, ms);
  const leave = setTimeout(() => {
    launched = undefined;
    reject(new Error("nothing that was waited for ended with the pages"));
  }, ms + grace);
  try {
    return await Promise.race([work(), unanswered]);
  } catch (e) {
    if (!late) throw e;
    throw new Error(`not done after ${ms / 1000} s, all pages were closed: ${messageOf(e)}`, { cause: e });
  } finally {
    clearTimeout(close);
    clearTimeout(leave);
  }
}

/** As `test`, skipped where there is no browser, and {@link within} a minute. */
export function pageTest(title: string, work: () => Promise<void>): void {
  test(title, { skip: noBrowser }, () => within(most, work));
}

/**
 * For tests that look at one page in turn; where one of them has closed it, the next gets another.
 * @param opened is told of each.
 */
export function onOnePage(
  opened: (page: Page) => void = () => {},
): (title: string, work: (page: Page) => Promise<void>) => void {
  let page: Page | undefined;
  after(() => page?.close());
  return (title, work) =>
    pageTest(title, async () => {
      if (page === undefined || page.isClosed()) {
        page = await (await browser()).newPage();
        opened(page);
      }
      await work(page);
    });
}
