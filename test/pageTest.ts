/** Tests of pages in a real browser. Each has a timeout, so that a missing answer costs one test and a minute. */
import { after, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { messageOf } from "../src/core/errors.ts";
import { noBrowser, openBrowser } from "./browser.ts";
import { atEnd } from "./room.ts";

/** Milliseconds before a test times out, and further ones before its pending call fails. */
const [most, grace] = [60_000, 5_000];

let launched: Promise<Browser> | undefined;
atEnd(async () => (await launched)?.close());

/** One browser for all tests of a process. Pages of `newPage` share neither cookies nor caches; close them. */
export function browser(): Promise<Browser> {
  launched ??= openBrowser();
  return launched;
}

/**
 * Runs work with pages. After `ms` milliseconds all of them are closed, which fails the pending call: the error names that
 * call, with its location as the cause. A browser that does not respond even then is abandoned.
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

/** Like `test`, but skipped without a browser, and {@link within} a minute or as long as is stated. */
export function pageTest(title: string, work: () => Promise<void>, ms = most): void {
  test(title, { skip: noBrowser }, () => within(ms, work));
}

/**
 * For tests that use one page in turn; if one of them closes it, the next gets a new one.
 * @param opened called with each page.
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
