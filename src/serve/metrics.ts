/** Prometheus metrics of a production server: what passed through, how long it took, what was recorded, and the process. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { ServedResponse } from "../core/served.ts";
import type { Recorder } from "../store/trafficStore.ts";
import type { GatewayState } from "./gateway/runningCalls.ts";

/** What is read when somebody asks. */
export interface MetricsSources {
  readonly gateway: () => GatewayState;
  readonly recorder: Pick<Recorder, "state">;
  readonly sessions: () => number;
  /** Ids of the versions that answer at present. */
  readonly live: () => readonly string[];
}

export interface Metrics {
  /** A recorder that counts what passes through it. */
  measuring(recorder: Recorder): Recorder;
  /** Prometheus text format 0.0.4. */
  text(sources: MetricsSources): Promise<string>;
  readonly contentType: string;
}

/** Upper ends in seconds: from an answer out of a cache to a long one that is streamed. */
const buckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Metrics in a registry of their own, so that several servers in one process do not meet. */
export function metrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name: `whetstone_${name}`, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `whetstone_${name}`, help, labelNames, registers });

  const calls = counter("calls_total", "Recorded calls that have ended.", ["version", "status"]);
  const tokens = counter("tokens_total", "Tokens as the backends counted them.", ["version", "direction"]);
  const seconds = new Histogram({
    name: "whetstone_call_duration_seconds",
    help: "From the request to the last byte of the answer.",
    labelNames: ["version"],
    buckets,
    registers,
  });
  const signals = counter("signals_total", "Pieces of feedback received, without duplicates.", ["kind"]);
  const running = gauge("calls_running", "Calls that are being answered.");
  const unrecorded = gauge(
    "calls_unrecorded",
    "Calls passed on without a record, such as embeddings, since the start.",
  );
  const passed = gauge("calls_passed", "Calls of other paths that were passed through, since the start.");
  const cuts = gauge("trajectory_cuts", "Prompts that continued no earlier one, since the start.", [
    "reason",
  ]);
  const pending = gauge("records_pending", "Responses that wait to be written.");
  const lost = gauge("records_lost", "Responses that could not be written, since the start.");
  const failing = gauge("records_failing", "1 while nothing can be written, else 0.");
  const sessions = gauge("sessions", "Sessions held in memory.");
  const live = gauge("version_live", "1 for each version that answers at present.", ["version"]);

  function saw({ version, status, ms, usage }: ServedResponse): void {
    calls.inc({ version, status });
    seconds.observe({ version }, ms / 1000);
    if (!usage) return;
    tokens.inc({ version, direction: "input" }, usage.input);
    tokens.inc({ version, direction: "output" }, usage.output);
  }

  return {
    contentType: registry.contentType,
    measuring: (recorder) => ({
      ...recorder,
      record(response) {
        saw(response);
        recorder.record(response);
      },
      recordDurably(response) {
        saw(response);
        return recorder.recordDurably(response);
      },
      async receive(signal) {
        const written = await recorder.receive(signal);
        if (!written.duplicate) signals.inc({ kind: signal.kind });
        return written;
      },
      async receiveAll(all) {
        const written = await recorder.receiveAll(all);
        for (const [i, { duplicate }] of written.entries())
          if (!duplicate) signals.inc({ kind: all[i]!.kind });
        return written;
      },
    }),
    async text(sources) {
      const gateway = sources.gateway();
      running.set(gateway.running);
      unrecorded.set(gateway.unrecorded);
      passed.set(gateway.passed);
      for (const [reason, n] of Object.entries(gateway.trajectoryCuts)) cuts.set({ reason }, n);
      const written = sources.recorder.state();
      pending.set(written.pending);
      lost.set(written.lost);
      failing.set(Number(written.failing !== undefined));
      sessions.set(sources.sessions());
      live.reset();
      for (const version of sources.live()) live.set({ version }, 1);
      return await registry.metrics();
    },
  };
}
