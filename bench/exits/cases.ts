/** Commands that open the local engine, and how they may end. */

export interface Ending {
  readonly code: number | null;
  /** The signal that ended it, where no handler of its own did. */
  readonly by: NodeJS.Signals | null;
  readonly err: string;
}

export interface EndingCase {
  readonly name: string;
  args(round: number): readonly string[];
  /** Sent at a random moment. Default: none, the command ends by itself. */
  readonly signal?: NodeJS.Signals;
  /** Sent again, this many milliseconds later. */
  readonly againMs?: number;
  /** Milliseconds in which that moment lies: from Node's start to well into the work, on a busy machine. */
  readonly within: number;
  /** What docs/cli.md says for it; a signal that comes before there is anything to save ends it too. */
  readonly codes: readonly number[];
}

const done = 0;
const usage = 2;
const interrupted = 130;

/** Twenty million random parameters, so that the engine thread is in native code most of the time. */
export const config = `export default {
  env: "facts",
  warmStart: false,
  size: { width: 512, layers: 6, heads: 8, kvHeads: 8, feedForward: 1536 },
  evaluation: { tasks: 20, every: 0 },
};
`;
const run = "runs/made";
const small = ["--env", "codewords", "--iterations", "100000"];

/** Ends by itself, by a wrong usage that is found once the engine is there. */
const early = (name: string, ...args: readonly string[]): EndingCase => ({
  name,
  args: () => args,
  within: 0,
  codes: [usage],
});

/** Ended by each signal; it may be done before that. */
const cut = (
  name: string,
  code: number,
  within: number,
  args: (round: number) => readonly string[],
  more: Pick<EndingCase, "againMs"> = {},
): EndingCase[] =>
  (["SIGINT", "SIGTERM"] as const).map((signal) => ({
    name: `${name}, ${signal}`,
    args,
    signal,
    within,
    codes: [code, done],
    ...more,
  }));

const large = (round: number, what: string): readonly string[] => [
  ...["train", "config.ts", "--iterations", "1000", "--out", `runs/${what}-${round}`],
];

export const endingCases: readonly EndingCase[] = [
  early("eval, a split that does not exist", "eval", run, "--split", "nosplit"),
  early("eval, an environment that does not exist", "eval", run, "--env", "nowhere"),
  early("train, into a folder that is taken", "train", ...small, "--out", run),
  early("train, a setting that is none", "train", ...small, "--group-size", "0", "--out", "runs/none"),
  early("train --device cuda, where there is none", "train", ...small, "--device", "cuda", "--out", "runs/c"),
  early("compare, an engine that does not exist", "compare", "grpo", "rloo", "--engine", "nothing"),
  early("serve --policy, a port that is none", "serve", "--policy", run, "--port", "80000"),
  { name: "eval, to its end", args: () => ["eval", run, "--tasks", "4"], within: 0, codes: [done] },
  ...cut("train, a large model", interrupted, 9000, (round) => large(round, "large")),
  ...cut("train, a large model, twice", interrupted, 9000, (round) => large(round, "twice"), {
    againMs: 700,
  }),
  ...cut("train, a small model", interrupted, 6000, (round) => [
    "train",
    ...small,
    "--out",
    `runs/s-${round}`,
  ]),
  ...cut("start", interrupted, 9000, (round) => ["start", "--out", `runs/start-${round}`]),
  ...cut("eval", interrupted, 8000, () => ["eval", run]),
  ...cut("eval --suite", interrupted, 8000, () => ["eval", run, "--suite", "multiturninstruct"]),
  ...cut("compare", interrupted, 8000, (round) => [
    ...["compare", "grpo", "rloo", "--env", "codewords", "--seeds", "2", "--out", `runs/compare-${round}`],
  ]),
  ...cut("serve --policy", done, 6000, () => ["serve", "--policy", run, "--port", "0"]),
  ...cut("serve --tinker", done, 6000, (round) => [
    ...["serve", "--tinker", "--port", "0", "--checkpoints", `tinker-${round}`],
  ]),
];

/** Whether the command ended as docs/cli.md says. */
export const isDocumented = ({ codes, signal }: EndingCase, { code, by }: Ending): boolean =>
  by === null ? code !== null && codes.includes(code) : by === signal;
