import assert from "node:assert/strict";
import { test } from "node:test";
import { writtenBy } from "../../src/common/artefacts/origins.ts";
import { leakCheck } from "../../src/common/text/leaks.ts";
import type { Artefact, InstructionSet } from "../../src/core/artefact.ts";
import type { Chat } from "../../src/core/chat.ts";
import type { ArtefactCandidate } from "../../src/core/context.ts";
import { randomStream } from "../../src/core/random.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { method } from "../../src/method/method.ts";
import { chatActor, withArtefact } from "../../src/rollout/actor.ts";
import { playEpisode } from "../../src/rollout/episode.ts";
import {
  artefactsIn,
  bestArtefact,
  currentArtefact,
  markBest,
  proposedArtefacts,
  takeBest,
} from "../../src/train/artefacts.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { nothing } from "../../src/update/nothing.ts";
import { keyDoor } from "../../src/worlds/keyDoor.ts";
import { withCode } from "./world.ts";

const origins = writtenBy("reflection");
const instructions = (system: string): InstructionSet => ({
  kind: "instructions",
  system,
  tools: {},
  examples: [],
  origins,
});
const candidate = (system: string): ArtefactCandidate => ({
  name: "told",
  artefact: instructions(system),
  parents: [],
  why: "tried",
  origins,
});

test("a proposal is noted, put in force when it is adopted, and kept as plain data", () => {
  const state = { memory: {} };
  const counted: string[] = [];
  const book = artefactsIn(
    state,
    () => [],
    (counter) => counted.push(counter),
  );
  assert.equal(book.current(), undefined);
  const made = book.propose(candidate("Open doors."));
  assert.ok("id" in made);
  assert.equal(book.current(), undefined);
  book.adopt(made.id);
  assert.deepEqual(book.current(), made);
  assert.deepEqual(book.propose(candidate("Open doors.")), made);
  assert.deepEqual(counted, ["artefacts.proposed", "artefacts.proposed"]);
  // a checkpoint gives it back as it is
  const resumed = JSON.parse(JSON.stringify(state));
  assert.deepEqual(currentArtefact(resumed), made);
  assert.throws(() => book.adopt("none"), withCode("name.unknown"));
});

test("what did best takes its place again", () => {
  const state = { memory: {} };
  const book = artefactsIn(
    state,
    () => [],
    () => {},
  );
  const [first, second] = ["a", "b"].map((text) => book.propose(candidate(text)));
  assert.ok(first && second && "id" in first && "id" in second);
  takeBest(state);
  assert.equal(currentArtefact(state), undefined);
  book.adopt(first.id);
  assert.deepEqual(bestArtefact(state), first);
  markBest(state);
  book.adopt(second.id);
  assert.deepEqual([bestArtefact(state), currentArtefact(state)], [first, second]);
  takeBest(state);
  assert.deepEqual(currentArtefact(state), first);
  assert.deepEqual(proposedArtefacts(state), [first, second]);
});

test("a candidate that gives away a held-out answer is refused, counted, and noted nowhere", () => {
  const state = { memory: {} };
  const counted: string[] = [];
  const task = { id: "x", prompt: [], reference: "Brussels", metadata: {}, seed: 0 };
  const book = artefactsIn(state, leakCheck([task], []), (counter) => counted.push(counter));
  assert.deepEqual(book.propose(candidate("Say Brussels.")), { refused: ["system text"] });
  assert.deepEqual(counted, ["artefacts.proposed", "artefacts.refused"]);
  assert.deepEqual(state.memory, {});
});

test("a model that talks is told once, in front of everything, and its turns say by what", async () => {
  const heard: string[][] = [];
  const chat: Chat = {
    id: "talker",
    reply: async ({ messages }) => {
      heard.push(messages.map(({ role, content }) => `${role}: ${content}`));
      return {
        message: { role: "assistant", content: heard.length < 3 ? "left" : "wave" },
        stop: "eos",
        tokens: { input: 0, output: 0 },
        cached: false,
      };
    },
    ask: async () => undefined,
    spent: () => ({ calls: 0, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 }),
  };
  const environment = keyDoor();
  const play = (artefact: Artefact) =>
    playEpisode({
      environment,
      task: environment.tasks("train")[0]!,
      id: "e",
      actor: () => withArtefact(chatActor("policy", chat), artefact),
      random: randomStream(1),
      limits: { turns: 2 },
    });
  const entry = {
    id: "l",
    kind: "strategy",
    when: "",
    text: "take the key",
    score: 0,
    shown: 0,
    origins,
  } as const;
  const [played] = await play({ kind: "experience", entries: [entry] });
  assert.equal(heard.length, 2);
  for (const messages of heard) {
    assert.match(messages[0] ?? "", /system: .*Learnt before:\n- take the key$/s);
    assert.equal(messages.filter((m) => m.includes("take the key")).length, 1);
  }
  assert.deepEqual(
    played?.turns.map(({ shown, version }) => [shown, /^talker\+[0-9a-f]{16}$/.test(version)]),
    [
      [["l"], true],
      [["l"], true],
    ],
  );
});

test("in a run the policy is told what is in force, but for episodes that say otherwise; another model is not", async () => {
  const prompts: string[][] = [];
  const recipe = method({
    id: "told",
    family: "memory",
    summary: "tells",
    says: ["look twice wave"],
    models: { other: { from: "policy" } },
    slots: {
      annotate: [],
      credit: [],
      advantage: [],
      objective: [],
      rollout: async (ctx) => {
        const [task] = ctx.tasks;
        const played = await Promise.all([
          ctx.play({ task: task!.id, attempt: 0 }),
          ctx.play({ task: task!.id, attempt: 1, artefact: "none" }),
          ctx.play({ task: task!.id, attempt: 2, artefact: instructions("wave") }),
          ctx.play({ task: task!.id, attempt: 3, models: { agent: "other" } }),
        ]);
        prompts.push(played.flat().map((t) => t.turns[0]?.prompt.map((m) => m.content).join("|") ?? ""));
        return { trajectories: played.flat(), units: [] };
      },
      update: async (ctx, batch, objectives, annotated) => {
        const made = ctx.artefacts.propose(candidate("look twice"));
        if ("id" in made) ctx.artefacts.adopt(made.id);
        return nothing()(ctx, batch, objectives, annotated);
      },
    },
  });
  await trainInMemory({
    environment: keyDoor(),
    method: recipe.build({ tasks: 1 }),
    engine: tabularEngine(),
    seed: 1,
    iterations: 2,
  });
  assert.deepEqual(
    prompts.map((of) => of.map((prompt) => [prompt.includes("look twice"), prompt.includes("wave")])),
    [
      [
        [false, false],
        [false, false],
        [false, true],
        [false, false],
      ],
      [
        [true, false],
        [false, false],
        [false, true],
        [false, false],
      ],
    ],
  );
});
