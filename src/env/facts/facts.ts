/**
 * A search agent over real-world facts: questions of one to three look-ups, answered over several turns with three
 * text commands: `search NAME`, `lookup RELATION of NAME`, `answer TEXT`. Everything said is lower-case words that
 * single spaces separate, so that a small decoder with a word-level vocabulary learns it on a CPU.
 */
import { type Message, succeeded, type Task, type Trajectory } from "../../core/types.ts";
import { critiqueWords, type Part, type Review, templated, wholeAction } from "../critiques.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode, type Step } from "../environment.ts";
import { expert, flawed, nextMove, progress } from "./players.ts";
import {
  askedBy,
  countryWords,
  frames,
  makeTasks,
  relationWords,
  rightAnswers,
  type Split,
  splits,
} from "./questions.ts";
import { entries, natives, type Reply, relations, replies } from "./world.ts";

const turnLimit = 8;

/** Texts that hold every word of the environment. */
function vocabulary(): readonly string[] {
  const bare = replies(new Set());
  const samples: readonly Reply[] = [
    bare.search("?"),
    bare.lookup("?", "?"),
    bare.lookup("country", "?"),
    bare.lookup("country", "euro"),
    bare.lookup("country", "peru"),
    bare.lookup("capital", "lima"),
    bare.lookup("name", "peru"),
    bare.unknown(),
  ];
  return [
    "search",
    "lookup",
    "answer",
    "unknown",
    ...relations,
    ...frames,
    ...Object.values(relationWords).flat(),
    ...Object.values(countryWords).flat(),
    ...samples.flatMap((r) => [r.says, r.advice ?? ""]),
    bare.wrong("peru", "language"),
    ...[...entries.values()].flatMap((e) => [
      e.name,
      e.description,
      `a ${e.kind}`,
      ...Object.values(e.facts).map((values) => values[0]!),
    ]),
    ...[...natives].map(([native, country]) => `${native} other name of ${country}`),
  ].filter((text) => text !== "");
}

const known: ReadonlySet<string> = new Set(vocabulary().flatMap((text) => text.split(" ")));
const say = replies(known);

/** Lower case, single spaces, the first line that says something. */
function tidy(content: string): string {
  const line = content.split("\n").find((l) => l.trim() !== "") ?? "";
  return line.trim().toLowerCase().replace(/\s+/g, " ");
}

function reply(command: string): Reply {
  const search = /^search (.+)$/.exec(command);
  if (search !== null) return say.search(search[1]!);
  const lookup = /^lookup (\S+) of (.+)$/.exec(command);
  if (lookup !== null) return say.lookup(lookup[1]!, lookup[2]!);
  return say.unknown();
}

/** An action is right where the expert would do the same in its place, or where it is a right answer. */
function review(task: Task, trajectory: Trajectory): Review {
  const conversation: Message[] = [...task.prompt];
  const parts = trajectory.turns.slice(0, turnLimit).map(({ action }, k): Part => {
    const command = tidy(action.content);
    const better = nextMove(progress(task, conversation));
    const answer = answerIn(command);
    conversation.push(
      { role: "assistant", content: command },
      { role: "user", content: reply(command).says },
    );
    const about = better.split(" of ")[1];
    const worse = about === undefined ? [] : relations.map((relation) => `lookup ${relation} of ${about}`);
    return {
      ...wholeAction(k, action.content),
      good: command === better || (answer !== undefined && rightAnswers(task).includes(answer)),
      name: `step ${k + 1}`,
      better,
      worse: [...worse, "answer unknown"].filter((other) => other !== better && other !== command),
    };
  });
  const arrived = parts.every(({ good }) => good) ? "success" : "inefficient";
  return { outcome: succeeded(trajectory) ? arrived : "failure", parts };
}

const answerIn = (command: string): string | undefined => /^answer (.+)$/.exec(command)?.[1];

function start(task: Task): Episode {
  let said: readonly string[] = [];
  let turn = 0;
  let ended = false;
  return {
    async observe() {
      const last = said.at(-1);
      return {
        role: "agent",
        observation: {
          messages: turn === 0 || last === undefined ? [] : [{ role: "user", content: last }],
          // what is known decides what can be done; turns left are not part of it
          stateKey: `${task.id} | ${[...new Set(said)].sort().join(" | ")}`,
        },
      };
    },
    async act(action): Promise<Step> {
      if (ended) return alreadyOver;
      turn++;
      const command = tidy(action.content);
      const answer = answerIn(command);
      if (answer !== undefined) {
        ended = true;
        const success = rightAnswers(task).includes(answer);
        return {
          rewards: { outcome: success ? 1 : 0 },
          end: { kind: "done", reason: "answered", success },
          ...(!success && { text: say.wrong(answer, askedBy(task).path.at(-1)!) }),
        };
      }
      const { says, advice } = reply(command);
      said = [...said, says];
      ended = turn >= turnLimit;
      return {
        ...(advice !== undefined && { text: advice }),
        ...(ended && {
          rewards: { outcome: 0 },
          end: { kind: "truncated", limit: "turns", at: turn } as const,
        }),
      };
    },
  };
}

/** The facts environment. */
export function facts(): Environment {
  const made = new Map<string, readonly Task[]>();
  return defineEnvironment({
    name: "facts",
    summary: "answer questions about 171 countries by searching and looking things up, one to three hops",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: turnLimit, actionTokens: 12 },
    tasks(split) {
      if (!(splits as readonly string[]).includes(split)) return [];
      let tasks = made.get(split);
      if (tasks === undefined) made.set(split, (tasks = makeTasks(split as Split)));
      return tasks;
    },
    start: async (task) => start(task),
    vocabulary,
    expert,
    flawed,
    critiqueVocabulary: () => critiqueWords(turnLimit),
    critique: async (task, trajectory, request) => templated(review(task, trajectory), request),
    async verify(task, trajectory) {
      const last = trajectory.turns.at(-1)?.action.content ?? "";
      const answer = answerIn(tidy(last));
      return { outcome: answer !== undefined && rightAnswers(task).includes(answer) ? 1 : 0 };
    },
  });
}
