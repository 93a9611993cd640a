/** What methods can ask an arena for beyond actions and rewards is frozen too: states, legal actions, scores, comparisons, critiques. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { Arena } from "../../src/arenas/arena.ts";
import { arenas } from "../../src/arenas/index.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Environment } from "../../src/env/environment.ts";
import { playedBy } from "../env/play.ts";

/** A changed answer makes another arena: give it another name, and leave these as they are. */
const frozen: Readonly<Record<string, string>> = {
  search: "991b399ca6e27450",
  trail: "42d03e0f923cae3a",
  programs: "38ee50f9f57064d3",
  instructions: "4fb96a62d8af0de0",
  orders: "2e23cf148ecf02bc",
};

async function answers(arena: Arena): Promise<string> {
  const hash = createHash("sha256");
  const put = (part: unknown): void => void hash.update(`${JSON.stringify(part)}\n`);
  const environment = arena.environment();
  const watched: Environment = {
    ...environment,
    async start(...args) {
      const episode = await environment.start(...args);
      return {
        ...episode,
        act: (action) => episode.act(action),
        async observe() {
          const observed = await episode.observe();
          put([observed.observation.stateKey, observed.observation.legal]);
          return observed;
        },
      };
    },
  };
  for (const split of environment.splits)
    for (const task of environment.tasks(split).slice(0, 20)) {
      const right = await playedBy(watched, task, environment.expert!);
      const wrong = await playedBy(watched, task, environment.flawed!);
      for (const [first, second] of [
        [right, wrong],
        [wrong, right],
      ] as const) {
        put(await environment.verify?.(task, first));
        put(await environment.prefer?.(task, first, second));
        for (const detail of ["outcome", "hint", "answer"] as const)
          for (const isRight of [true, false])
            put(
              await environment.critique?.(task, first, {
                right: isRight,
                detail,
                random: randomStream(detail),
              }),
            );
      }
    }
  return hash.digest("hex").slice(0, 16);
}

test("arenas say of states, scores, comparisons and critiques what they said to the first method", async () => {
  assert.deepEqual(
    Object.fromEntries(await Promise.all(arenas.map(async (arena) => [arena.name, await answers(arena)]))),
    frozen,
  );
});
