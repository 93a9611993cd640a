import assert from "node:assert/strict";
import { test } from "node:test";
import type { Play } from "../../src/core/context.ts";
import { multiTurn } from "../../src/rollout/multiTurn.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

test("multiTurn: limits go to every play, and no others are made up", async () => {
  const played = async (limits?: Play["limits"]): Promise<readonly Play["limits"][]> => {
    const plays: Play[] = [];
    const ctx = ctxOf({
      tasks: ["a", "b"].map((id) => ({ id, prompt: [], metadata: {}, seed: 1 })),
      play: async (play) => {
        plays.push(play);
        return [trajectoryOf(`${plays.length}`, [turnOf([1], [2])])];
      },
    });
    await multiTurn({ groupSize: 2, ...(limits && { limits }) })(ctx);
    return plays.map((play) => play.limits);
  };
  assert.deepEqual(await played({ turns: 1 }), [{ turns: 1 }, { turns: 1 }, { turns: 1 }, { turns: 1 }]);
  assert.deepEqual(await played(), [undefined, undefined, undefined, undefined]);
});
