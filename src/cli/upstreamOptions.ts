/** How long an upstream may take, and how often it is asked again: of `serve` and `versions add`. */
import type { Command } from "commander";
import { seconds } from "./durations.ts";
import { statedNumber } from "./numbers.ts";

export const timeoutOption = [
  "--timeout <duration>",
  "with --upstream: longest wait until an answer begins, and between its parts (default: 10m)",
] as const;
export const retriesOption = [
  "--retries <n>",
  "with --upstream: further tries of a call that was not taken (no connection, 429, 503); a call that may have been taken is repeated only with an Idempotency-Key (default: 0)",
] as const;

/** The upstream of `serve`, and its key. */
export const addUpstreamOptions = (command: Command): Command =>
  command
    .option("--upstream <url>", "gateway: base URL, with /v1, of any OpenAI-compatible server")
    .option(
      "--upstream-key-env <name>",
      "environment variable that holds the upstream's key (default: the client's own key is forwarded to this upstream)",
    )
    .option(...timeoutOption)
    .option(...retriesOption);

/** Of a version's backend. */
export const patienceOf = ({
  timeout,
  retries,
}: {
  readonly timeout?: string;
  readonly retries?: string;
}): { readonly timeout?: number; readonly retries?: number } => ({
  ...(timeout === undefined ? {} : { timeout: Math.ceil(1000 * seconds("--timeout", timeout)) }),
  ...(retries === undefined ? {} : { retries: statedNumber("--retries", retries, 0, 10) }),
});
