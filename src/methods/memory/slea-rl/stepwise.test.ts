import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf } from "../../../../test/core/make.ts";
import type { Leak } from "../../../common/text/leaks.ts";
import type { Artefact } from "../../../core/artefact.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import { randomStream } from "../../../core/random.ts";
import type { AnnotatedExperience } from "../../../core/slots.ts";
import { type Message, succeeded, type Trajectory } from "../../../core/types.ts";
import { scriptActor } from "../../../rollout/actor.ts";
import { playEpisode } from "../../../rollout/episode.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { artefactsIn, proposedArtefacts } from "../../../train/artefacts.ts";
import { keyDoor, rightAction } from "../../../worlds/keyDoor.ts";
import { gatherLessons, type LessonOptions, readLibrary, withLessons } from "./stepwise.ts";

const environment = keyDoor({ cells: 3 });
const [task] = environment.tasks("train");
const settings: LessonOptions = {
  similarity: 1,
  alike: 0.99,
  warmUp: 1,
  least: 1,
  score: ({ turns }) => turns.at(-1)?.rewards.outcome ?? 0,
};
const kept = async () => ({ steps: 1 });

/** A run whose policy is a rule; its memory lasts from one iteration to the next. */
function world(act: (seen: string) => string, leaksIn: (artefact: Artefact) => readonly Leak[] = () => []) {
  const memory = new Map<string, Json>();
  const state = { memory: {} };
  const ctx = (iteration: number): Ctx =>
    ctxOf({
      clock: { iteration, phase: "train", step: 0 },
      random: randomStream(1),
      tasks: [task!],
      task: () => task!,
      artefacts: artefactsIn(state, leaksIn, () => {}),
      memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
      play: (play) =>
        playEpisode({
          id: `${iteration}/${play.attempt}`,
          environment,
          task: task!,
          random: randomStream(1),
          ...(play.advise ? { advise: play.advise } : {}),
          actor: () => scriptActor("policy", (_task, said) => act(seenIn(said))),
        }),
    });
  const turn = async (iteration: number, options: LessonOptions = settings) => {
    const experience = await withLessons(multiTurn({ groupSize: 1 }), options)(ctx(iteration));
    const annotated: AnnotatedExperience = { ...experience, notes: {}, signals: [], channels: {} };
    const stats = await gatherLessons(kept, options)(ctx(iteration), batchOfRows([]), [], annotated);
    const library = readLibrary(ctx(iteration).memory);
    return { experience, stats, library, versions: proposedArtefacts(state) };
  };
  return { turn };
}

const seenIn = (said: readonly Message[]): string =>
  said.findLast(({ content }) => content.startsWith("cell"))?.content ?? "";

/** What was told before each action. */
const told = ({ turns }: Trajectory): readonly (string | undefined)[] =>
  turns.map(({ prompt }) => prompt.at(-1)!.content.match(/^Lessons :\n(.*)$/s)?.[1]);

test("lessons of an episode that went well are shown in the next one, each at its place", async () => {
  const { turn } = world((seen) => rightAction(seen, 3));
  const first = await turn(0);
  const [walk] = first.experience.trajectories;
  assert.ok(succeeded(walk!));
  assert.deepEqual(told(walk!), [undefined, undefined, undefined, undefined, undefined]);
  assert.equal(first.experience.stats!["lessons.turns"], 0);
  // five turns, each in a place of its own; the last one is worth the reward of 1, those before 0.95, 0.95² …
  assert.deepEqual(first.stats, { steps: 1, lessons: 5, clusters: 5, "lessons.new": 5 });
  assert.deepEqual(
    first.library.lessons.map(({ text, score }) => [text, Math.round(1e4 * score) / 1e4]),
    [
      ["open", 1],
      ["right", 0.95],
      ["right", 0.9025],
      ["pick", 0.8574],
      ["left", 0.8145],
    ],
  );
  const second = await turn(1);
  assert.deepEqual(told(second.experience.trajectories[0]!), [
    "do at cell 1 key no : left",
    "do at cell 0 key no : pick",
    "do at cell 0 key yes : right",
    "do at cell 1 key yes : right",
    "do at cell 2 key yes : open",
  ]);
  assert.equal(second.experience.stats!["lessons.turns"], 1);
  assert.equal(second.stats["lessons.new"], 0);
  assert.deepEqual(
    second.library.lessons.map(({ shown }) => shown),
    [1, 1, 1, 1, 1],
  );
  assert.ok(second.library.clusters.every(({ retrieved }) => retrieved === 1));
});

test("an episode that went badly warns of what changed nothing", async () => {
  const { turn } = world(() => "wave");
  const { library } = await turn(0);
  assert.deepEqual(
    library.lessons.map(({ kind, text, score }) => [kind, text, score]),
    [["warning", "wave", 0]],
  );
  const { experience } = await turn(1);
  assert.equal(told(experience.trajectories[0]!)[0], "beware at cell 1 key no : wave");
});

test("at the start the best lessons of all places are shown, once", async () => {
  const { turn } = world((seen) => rightAction(seen, 3));
  await turn(0);
  const { experience } = await turn(1, { ...settings, at: "start" });
  const [first, ...later] = told(experience.trajectories[0]!);
  assert.equal(first, "do at cell 2 key yes : open\ndo at cell 1 key yes : right");
  assert.deepEqual(later, [undefined, undefined, undefined, undefined]);
});

test("nothing is shown in the first iterations, nor from a library of few lessons", async () => {
  const { turn } = world((seen) => rightAction(seen, 3));
  await turn(0);
  const early = await turn(1, { ...settings, warmUp: 2 });
  const few = await turn(2, { ...settings, least: 6 });
  for (const { experience } of [early, few]) assert.equal(experience.stats!["lessons.turns"], 0);
});

test("tasks of another scope are shown nothing", async () => {
  const { turn } = world((seen) => rightAction(seen, 3));
  await turn(0, { ...settings, scope: () => "doors" });
  const { experience } = await turn(1, { ...settings, scope: () => "windows" });
  assert.equal(experience.stats!["lessons.turns"], 0);
});

test("every so often the library is a version of an artefact, made from the one before, without what is held out", async () => {
  const secret = (artefact: Artefact): readonly Leak[] =>
    artefact.kind === "experience"
      ? artefact.entries.flatMap(({ id, text }) =>
          text === "pick" ? [{ task: "t", part: id, what: "answer" }] : [],
        )
      : [];
  const { turn } = world((seen) => rightAction(seen, 3), secret);
  const often = { ...settings, versionEvery: 2 };
  assert.deepEqual((await turn(0, often)).versions, []);
  await turn(1, often);
  await turn(2, often);
  const { versions, library } = await turn(3, often);
  const [first, second] = versions;
  assert.deepEqual([versions.length, first?.name, second?.parents], [2, "lessons", [first?.id]]);
  assert.equal(second?.why, "after iteration 4: 4 lessons");
  assert.ok(second?.artefact.kind === "experience");
  assert.deepEqual(
    second.artefact.entries.map(({ text, shown, origins }) => [text, shown, origins.trajectories]),
    library.lessons
      .filter(({ text }) => text !== "pick")
      .map(({ text, shown, trajectory }) => [text, shown, [trajectory]]),
  );
  assert.deepEqual(second.origins.trajectories, ["0/0/agent"]);
});
