/** Trajectories as we export them, read by verifiers, Minari, datasets and TRL; and what those write, read in again by us. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { keyOf } from "../../src/common/text/toolCalls.ts";
import { type Message, paid, type Trajectory, type Turn } from "../../src/core/types.ts";
import { facts } from "../../src/env/facts/facts.ts";
import { type ImportFormat, importFile } from "../../src/exchange/import/importFile.ts";
import { jsonLine } from "../../src/exchange/jsonLine.ts";
import { exportRun, type TrajectoryForm, trajectoryForms } from "../../src/exchange/run/exportRun.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { openRunStore, type RunStore, type StoredTrajectory } from "../../src/store/runStore.ts";
import { runIn, tiny } from "../../test/train/world.ts";

/** What a tool found in a file, and more of its own. */
interface Told {
  readonly rows: number;
  readonly trajectories: number;
  readonly reward: number;
}

const forms = [
  ["verifiers", "verifiers"],
  ["minari", "minari"],
  ["messages", "trl"],
] as const satisfies readonly (readonly [TrajectoryForm, ImportFormat])[];

/** @param root a folder that is empty. @param python one that has verifiers, Minari, datasets and TRL. */
export async function trajectories(
  root: string,
  python: string,
  say: (what: string, passed: boolean) => void,
): Promise<void> {
  const script = join(import.meta.dirname, "..", "peers", "trajectories.py");
  const bothWays = async (
    what: string,
    [to, from]: (typeof forms)[number],
    file: string,
    played: readonly Trajectory[],
  ): Promise<void> => {
    const theirs = `${file}.theirs`;
    const { stdout } = await promisify(execFile)(python, [script, to, file, theirs]);
    const told = JSON.parse(stdout.trim().split("\n").at(-1)!) as Told;
    const sum = played.reduce((total, trajectory) => total + paid(trajectory), 0);
    say(
      `${what} as ${to}, read by its own tools: ${stdout.trim().split("\n").at(-1)}`,
      told.trajectories === played.length && isNear(told.reward, sum),
    );
    const back = await openTrafficStore(":memory:");
    await importFile(back, theirs, { from, now: Date.now() });
    const replies = (await Array.fromAsync(back.responses())).map(({ choices }) => choices[0]!.message);
    const signals = await Array.fromAsync(back.signals());
    await back.close();
    const paidBack = signals.reduce((total, { value = 0 }) => total + value, 0);
    const said = played.flatMap(({ turns }) => turns.map(({ action }) => action));
    // Minari has texts alone, in which calls of tools stand as JSON
    const wordsOf = (message: Message): string =>
      to === "minari" ? keyOf({ role: "assistant", content: minariText(message) }) : keyOf(message);
    const words = said.map(wordsOf).sort();
    const sameWords = isDeepStrictEqual(replies.map((reply) => keyOf(reply)).sort(), words);
    say(
      `the same as those write it, read by us: ${replies.length} replies, as they were said; rewards of ${paidBack}`,
      sameWords && isNear(paidBack, sum),
    );
  };

  const store = await searched(root);
  try {
    const [run] = await store.runs();
    const kept = await store.trajectories(run!.id);
    const played = await Promise.all(
      kept.map(({ iteration, phase, id }) => store.trajectory(run!.id, { iteration, phase, id })),
    );
    for (const form of forms) {
      const file = join(root, `${form[0]}.jsonl`);
      await exportRun(store, run!.id, file, { to: form[0] });
      await bothWays(
        `${kept.length} trajectories of a search agent`,
        form,
        file,
        played.map((one) => one!.trajectory),
      );
    }
  } finally {
    await store.close();
  }
  for (const form of forms) {
    const file = join(root, `odd-${form[0]}.jsonl`);
    const rows: readonly Readonly<Record<string, unknown>>[] = [
      ...Map.groupBy(odd, ({ episode }) => episode).values(),
    ].flatMap((episode) => [...trajectoryForms[form[0]](episode)]);
    writeFileSync(file, rows.map((row) => jsonLine(row)).join(""));
    const whole = odd
      .map(({ trajectory }) => trajectory)
      .filter(({ turns }) => form[0] === "verifiers" || turns.length > 0);
    await bothWays(
      "two agents with calls of tools, odd characters and an episode without an action",
      form,
      file,
      whole,
    );
  }
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) < 1e-9 * Math.max(1, Math.abs(b));

/** A run, trained in a folder of its own. */
async function searched(root: string): Promise<RunStore> {
  const engine = tiny();
  await runIn(root, {
    environment: facts(),
    engine,
    method: grpo.build({ tasks: 4, groupSize: 4 }),
    iterations: 1,
    contextTokens: 256,
    warmStart: { updates: 600, every: 600, batch: 8 },
    evaluation: { tasks: 4, every: 2, validationTasks: 4 },
  });
  await engine.dispose();
  return openRunStore(join(root, "whetstone.sqlite"));
}

const tools: NonNullable<Message["tools"]> = [
  {
    name: "look",
    description: "looks",
    parameters: { type: "object", properties: { at: { type: "string" } } },
  },
];
const call = (given: string): Message => ({
  role: "assistant",
  content: "",
  toolCalls: [{ id: "c", name: "look", arguments: given }],
});
const minariText = ({ content, toolCalls = [] }: Message): string =>
  [content, ...toolCalls.map(({ name, arguments: given }) => JSON.stringify({ name, arguments: given }))]
    .filter((text) => text !== "")
    .join("\n");

const turnOf = (prompt: readonly Message[], action: Message, rewards: Turn["rewards"]): Turn => ({
  role: "agent",
  model: "policy",
  version: "1",
  prompt,
  action,
  spans: {},
  stop: "eos",
  rewards,
  ms: 0,
});

function storedOf(
  id: string,
  role: string,
  turns: readonly Turn[],
  end: Trajectory["end"],
): StoredTrajectory {
  const about = { id: `${id}/${role}`, task: id, episode: id, role, origin: "sampled" } as const;
  const kept = { run: "odd", iteration: 0, phase: "train", turns: turns.length, end: end.kind, kept: "" };
  return { ...about, ...kept, trajectory: { ...about, turns, end } };
}

/** What seldom happens. */
const odd: readonly StoredTrajectory[] = (() => {
  const asked: readonly Message[] = [
    { role: "system", content: "Look.", tools },
    { role: "user", content: 'half a \ud800 pair, "quotes",\u2028\u0000 \u0085 and 😀' },
  ];
  const heard: Message = { role: "tool", content: "blau\nüber", toolCallId: "c" };
  const text = call('{"at": "it"}');
  const number = call('{"at": 3}');
  const said: Message = { role: "assistant", content: "It is blue 😀\u2029." };
  const done: Trajectory["end"] = { kind: "done", reason: "said", success: true };
  return [
    storedOf(
      "e1",
      "white",
      [
        turnOf(asked, text, { tried: 0.25 }),
        turnOf([...asked, text, heard], said, { right: 1, brief: -0.5 }),
      ],
      done,
    ),
    storedOf("e1", "black", [turnOf(asked, number, {})], { kind: "truncated", limit: "turns", at: 1 }),
    storedOf("e2", "white", [], done),
  ];
})();
