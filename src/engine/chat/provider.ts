/** Watches whether a provider still answers: a transient failure costs one reply; a permanent one ends the run. */
import { WhetstoneError } from "../../core/errors.ts";
import type { Failure } from "./failures.ts";

export interface ProviderOptions {
  /** The model's name in errors. */
  readonly model: string;
  /** The source of the key in errors. */
  readonly key?: string;
  readonly patienceSeconds: number;
}

export interface Provider {
  /** Aborted with the error that ends the run. */
  readonly gone: AbortSignal;
  answered(): void;
  /** @param last whether the request is not retried. */
  failed(failure: Failure, last: boolean): void;
}

/** Longest patience, in seconds, with a provider that has never answered. */
const firstPatienceSeconds = 10;

/** Consecutive rejected requests after which the provider is given up: a single one may itself be at fault. */
const refusedRequests = 3;

export function watchProvider({ model, key, patienceSeconds }: ProviderOptions): Provider {
  const gone = new AbortController();
  let everAnswered = false;
  /** Since the last answer. */
  let refusals = 0;
  let failingSince: number | undefined;

  function isGone({ kind }: Failure, last: boolean): boolean {
    const patience = everAnswered ? patienceSeconds : Math.min(firstPatienceSeconds, patienceSeconds);
    const silent = performance.now() - failingSince! >= patience * 1000;
    if (kind === "refused") return refusals >= (everAnswered ? refusedRequests : 1);
    if (kind === "request") return !everAnswered && refusals >= refusedRequests;
    if (kind === "unreached" && !everAnswered) return true;
    return silent && (last || kind === "late" || (kind === "lost" && !everAnswered));
  }

  return {
    gone: gone.signal,
    answered() {
      everAnswered = true;
      refusals = 0;
      failingSince = undefined;
    },
    failed(failure, last) {
      failingSince ??= performance.now();
      if (failure.kind === "refused" || failure.kind === "request") refusals++;
      if (gone.signal.aborted || !isGone(failure, last)) return;
      const { url: where = model, got, unconnected } = failure;
      const fix = fixFor(failure, key);
      gone.abort(
        new WhetstoneError("provider.gone", {
          ...{ where, got, expected: `a reply of ${model}`, fix },
          ...(unconnected !== undefined && { said: `${where}: ${unconnected}. ${fix}` }),
        }),
      );
    },
  };
}

/** Longest pause before a provider that is gone is asked again, in seconds. */
const longestPause = 300;

/**
 * A provider over a long time: once it is gone, nothing is sent for a pause, and then it is watched anew. The pause doubles each time
 * that it is gone again without an answer.
 * @param options `againSeconds`: the first pause.
 * @returns the watch of now.
 */
export function returningProvider(
  options: ProviderOptions & { readonly againSeconds: number },
): () => Provider {
  let pause = options.againSeconds;
  let until = Number.POSITIVE_INFINITY;
  function begin(): Provider {
    until = Number.POSITIVE_INFINITY;
    const watch = watchProvider(options);
    watch.gone.addEventListener("abort", () => {
      until = performance.now() + pause * 1000;
      pause = Math.min(2 * pause, longestPause);
    });
    return {
      ...watch,
      answered() {
        watch.answered();
        pause = options.againSeconds;
      },
    };
  }
  let current = begin();
  return () => {
    if (performance.now() >= until) current = begin();
    return current;
  };
}

function fixFor({ kind, status }: Failure, key = "of its API"): string {
  const check = {
    unreached: "the address, and that the server runs",
    refused:
      status === 404 || status === 405
        ? "the address, which usually ends with /v1, and the model's name"
        : `the key ${key}, and that it may use this model`,
    request: "the address, the model's name and the options that it supports",
    lost: "that the server is running",
    late: "that the server is running, and fast enough",
    busy: "the server's message, or wait until it answers again",
  }[kind];
  return `Check ${check}; earlier answers are kept.`;
}
