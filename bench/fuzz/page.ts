/** What was found, as a section of the page of results. */
import type { Crowd } from "./crowd.ts";
import type { FilesResult } from "./files.ts";
import type { FuzzResult } from "./fuzz.ts";
import type { Pause } from "./heartbeat.ts";
import type { Weighed } from "./heavy.ts";
import type { SocketResult } from "./sockets.ts";

export interface ServerRun {
  readonly malformed: FuzzResult;
  readonly seconds: number;
  /** The longest pause of the event loop while many were malformed at once. */
  readonly together: Pause;
  /** Resident, MiB, after each tenth. */
  readonly memory: readonly number[];
  readonly weighed: readonly Weighed[];
  readonly sockets?: SocketResult;
  readonly crowd?: Crowd;
  readonly log: readonly string[];
  /** How the server ended, if it has. */
  readonly ended: string | undefined;
}

/** Milliseconds: answers that take longer, and pauses in which the server computes longer, are amiss. */
const [tooSlow, tooLong] = [5000, 200];

/** Of a 500 there has to be a line that says why. */
const reasonsIn = (log: readonly string[]): readonly string[] =>
  log.filter((line) => /^(GET|POST|DELETE|PUT|PATCH|HEAD|OPTIONS) \S+: /.test(line));
const unforeseenIn = (log: readonly string[]): readonly string[] =>
  log.filter((line) => /This error is unexpected/.test(line));

/** Everything that should not be. */
export function amissIn({ malformed, weighed, sockets, crowd, log, ended }: ServerRun): readonly string[] {
  const { hangs, failures, wronged, slowest } = malformed;
  return [
    ...(ended === undefined ? [] : [`the server ended: ${ended}`]),
    ...hangs.map((one) => `hang: ${one}`),
    ...failures,
    ...wronged,
    ...slowest.filter(({ ms }) => ms > tooSlow).map(({ ms, what }) => `${ms.toFixed(0)} ms: ${what}`),
    ...weighed
      .filter(({ cpu, status }) => cpu > tooLong || status === "hang" || /^5/.test(status))
      .map((w) => `${w.what}, ${w.bytes} bytes: ${w.status}, a pause of ${w.cpu.toFixed(0)} ms`),
    ...(sockets?.hangs ?? []),
    ...(sockets && sockets.cpu > tooLong ? [`messages: a pause of ${sockets.cpu.toFixed(0)} ms`] : []),
    ...(crowd && crowd.answeredMs === undefined ? ["nobody was answered beside a crowd"] : []),
    ...reasonsIn(log),
    ...unforeseenIn(log),
  ];
}

interface About {
  readonly requests: number;
  readonly seed: number;
}
const day = (): string => new Date().toISOString().slice(0, 10);

export function serverSection(
  run: ServerRun,
  { name, store, requests, seed }: About & { readonly name: string; readonly store: string },
): string {
  const { malformed, seconds, together, memory, weighed, sockets, crowd, log, ended } = run;
  const { answers, hangs, failures, slowest, good, wronged } = malformed;
  const ms = (n: number): string => n.toFixed(0);
  const longest = weighed.toSorted((a, b) => b.cpu - a.cpu).slice(0, 3);
  return [
    `## ${titles[name]}${store === "postgres" ? " on PostgreSQL" : ""}`,
    "",
    `\`node bench/fuzz.ts --of ${name} --requests ${requests} --heavy ${weighed.length}${store === "postgres" ? " --store postgres" : ""} --seed ${seed}\`, ${day()}, Node ${process.version}: ${requests} malformed requests in ${seconds.toFixed(0)} s, 16 at a time, each over a connection of its own; then ${weighed.length} heavy ones, one after the other.`,
    "",
    `- server: ${ended === undefined ? "alive to the end" : `**ended: ${ended}**`}`,
    `- neither answered nor closed within 20 s: ${hangs.length}`,
    `- answers of 500 and above: ${failures.length + weighed.filter(({ status }) => /^5/.test(status)).length}, reasons in the log: ${reasonsIn(log).length}, lines that say "This error is unexpected": ${unforeseenIn(log).length}`,
    `- slowest answers: ${slowest.map((one) => `${(one.ms / 1000).toFixed(1)} s (${one.what})`).join("; ")}`,
    `- good requests in between: ${good}, not answered as they should be: ${wronged.length}`,
    `- resident memory, MiB, after each tenth: ${memory.map((mib) => mib.toFixed(0)).join(", ")}`,
    `- the event loop's longest pause while 16 were malformed at once: ${ms(together.cpu)} ms computed, ${ms(together.wall)} ms by the clock`,
    ...(longest.length > 0
      ? [
          `- its longest pauses by heavy requests: ${longest.map((w) => `${ms(w.cpu)} ms computed, ${ms(w.wall)} ms by the clock (${w.what}, ${(w.bytes / 1e6).toFixed(1)} MB: ${w.status})`).join("; ")}`,
        ]
      : []),
    ...(sockets
      ? [
          `- ${sockets.sent} messages over WebSockets: ${[...sockets.answers].map(([kind, n]) => `${kind} ${n}`).join(", ")}; without an answer ${sockets.hangs.length}; longest pause ${ms(sockets.cpu)} ms computed, ${ms(sockets.wall)} ms by the clock`,
        ]
      : []),
    ...(crowd
      ? [
          `- beside ${crowd.opened} connections of one client that say nothing or never end, of which ${crowd.held} were held at the end, another is answered ${crowd.answeredMs === undefined ? "**not at all**" : `after ${ms(crowd.answeredMs)} ms`}`,
        ]
      : []),
    "",
    ...malformedTable(answers),
    "",
    ...heavyTable(weighed),
  ].join("\n");
}

const titles: Readonly<Record<string, string>> = {
  gateway: "Gateway",
  dashboard: "Dashboard",
  tinker: "Tinker server",
  openenv: "OpenEnv server",
  agent: "Endpoint of an agent of one's own",
};

function malformedTable(answers: FuzzResult["answers"]): string[] {
  const rows = [...answers].map(([what, counts]) => {
    const total = [...counts.values()].reduce((a, b) => a + b, 0);
    const each = [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([status, n]) => `${status}: ${n}`);
    return `| ${what} | ${total} | ${each.join(", ")} |`;
  });
  return [
    "| what was wrong | requests | answers by status |",
    "| --- | --: | --- |",
    ...rows.sort(),
    "",
    "*closed*: the connection was closed without an answer, as for a head that is none. *left*: the client went away first. *200* and *201*",
    "come where what was changed did no harm, such as an unknown header or a number that is still one.",
  ];
}

function heavyTable(weighed: readonly Weighed[]): string[] {
  const kinds = Map.groupBy(weighed, ({ what }) => what.slice(what.indexOf(": ") + 2));
  const rows = [...kinds].map(([kind, all]) => {
    const statuses = [...Map.groupBy(all, ({ status }) => status)].sort(([a], [b]) => a.localeCompare(b));
    const most = (of: (w: Weighed) => number): string => Math.max(...all.map(of)).toFixed(0);
    return `| ${kind} | ${all.length} | ${most((w) => w.cpu)} | ${most((w) => w.wall)} | ${statuses.map(([s, of]) => `${s}: ${of.length}`).join(", ")} |`;
  });
  if (rows.length === 0) return [];
  return [
    "| what was heavy | requests | longest pause, ms computed | by the clock | answers by status |",
    "| --- | --: | --: | --: | --- |",
    ...rows.sort(),
    "",
  ];
}

export function filesSection(
  result: FilesResult,
  { requests, seed, seconds }: About & { seconds: number },
): string {
  const { kinds, unforeseen, hangs, crashes } = result;
  const rows = [...kinds].map(
    ([kind, { read, refused, slowestMs }]) =>
      `| ${kind} | ${read} | ${refused} | ${(slowestMs / 1000).toFixed(1)} |`,
  );
  return [
    "## Files",
    "",
    `\`node bench/fuzz.ts --of files --requests ${requests} --seed ${seed}\`, ${day()}, Node ${process.version}: ${requests} files, with something wrong in most, in ${seconds.toFixed(0)} s.`,
    "",
    `- errors that we did not foresee, or of several lines: ${unforeseen.length}`,
    `- not done with within 30 s: ${hangs.length}`,
    `- ended the thread that read them: ${crashes.length}`,
    "",
    "| kind | read | refused in one line | slowest, s |",
    "| --- | --: | --: | --: |",
    ...rows.sort(),
    "",
  ].join("\n");
}
