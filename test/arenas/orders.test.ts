/** The orders arena: splits apart, an expert who serves everybody, reactions as stated, nothing of the truth in training pay. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runInArena } from "../../src/arenas/arena.ts";
import { orders as arena } from "../../src/arenas/orders/arena.ts";
import { habits, moveOf, type Reaction, reactionTo } from "../../src/arenas/orders/customer.ts";
import { wantedIn } from "../../src/arenas/orders/menu.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Message, Task } from "../../src/core/types.ts";
import { localCodec } from "../../src/engine/local/index.ts";
import type { Step } from "../../src/env/environment.ts";
import { findMethod, methods } from "../../src/methods/catalogue.ts";

const world = arena.environment();

/** The steps of an episode with these actions, or the expert's. */
async function played(task: Task, actions?: readonly string[]): Promise<readonly Step[]> {
  const episode = await world.start(task, randomStream("unused"));
  const conversation: Message[] = [...task.prompt];
  const steps: Step[] = [];
  for (let turn = 0; turn < (actions?.length ?? world.limits.turns); turn++) {
    conversation.push(...(await episode.observe()).observation.messages);
    const content = actions?.[turn] ?? world.expert!(task, conversation, randomStream(turn));
    conversation.push({ role: "assistant", content });
    steps.push(await episode.act({ content, stop: "eos" }));
    if (steps.at(-1)!.end) break;
  }
  return steps;
}

test("no held-out order is trained on, and splits have their sizes", () => {
  const goals = (split: string): ReadonlySet<string> =>
    new Set(world.tasks(split).map(({ reference }) => reference!));
  for (const [one, other] of [
    ["train", "validation"],
    ["train", "test"],
    ["validation", "test"],
  ] as const)
    assert.ok([...goals(one)].every((goal) => !goals(other).has(goal)));
  assert.deepEqual(
    world.splits.map((split) => world.tasks(split).length),
    [880, 96, 280],
  );
});

test("the expert serves every held-out customer, and in training gets a thumb up, down or none", async () => {
  for (const split of ["validation", "test"])
    for (const task of world.tasks(split)) {
      const last = (await played(task)).at(-1)!;
      assert.ok(last.end?.kind === "done" && last.end.success === true);
      assert.deepEqual(last.rewards, { outcome: 1 });
    }
  const heard = new Map<number | undefined, number>();
  for (const task of world.tasks("train")) {
    const { rewards, end } = (await played(task)).at(-1)!;
    assert.ok(end?.kind === "done" && end.success === (rewards?.outcome === 1));
    heard.set(rewards?.outcome, (heard.get(rewards?.outcome) ?? 0) + 1);
  }
  const total = world.tasks("train").length;
  const { thumb, wrongClick } = habits;
  const near = (share: number, expected: number): void => assert.ok(Math.abs(share - expected) < 0.04);
  near(heard.get(1)! / total, thumb.right * (1 - wrongClick));
  near(heard.get(0)! / total, thumb.right * wrongClick);
  near(heard.get(undefined)! / total, 1 - thumb.right);
});

test("reactions: as often true, polite, silent and clicked wrongly as stated", () => {
  const goal = { dish: "soup", size: "large", time: "noon" } as const;
  const count = 4000;
  const share = (content: string, said: string, last: boolean, is: (r: Reaction) => boolean): number => {
    let n = 0;
    for (let i = 0; i < count; i++)
      if (is(reactionTo(moveOf(content), goal, [said], last, randomStream(i)))) n++;
    return n / count;
  };
  const near = (got: number, expected: number): void =>
    assert.ok(Math.abs(got - expected) < 0.03, `${got} where ${expected} was expected`);
  const wrong = "offer soup small noon";
  const { polite, leaves, corrects, bored, thumb, wrongClick } = habits;
  const up = polite * thumb.polite * (1 - wrongClick) + (1 - polite) * leaves * thumb.leaving * wrongClick;
  near(
    share(wrong, "soup", false, ({ goes }) => goes?.thumb === 1),
    up,
  );
  near(
    share(wrong, "soup", false, ({ goes, text }) => !!goes && text === undefined),
    (1 - polite) * leaves,
  );
  const stays = (1 - polite) * (1 - leaves);
  near(
    share(wrong, "soup", false, ({ text }) => text === "no , i meant large"),
    stays * corrects,
  );
  near(
    share(wrong, "soup", false, ({ text = "" }) => /not what i asked for , (double|large)$/.test(text)),
    stays * (1 - corrects),
  );
  const down = (stays * thumb.complaint + (1 - polite) * leaves * thumb.leaving) * (1 - wrongClick);
  near(
    share(wrong, "soup", true, ({ goes }) => goes?.thumb === 0),
    down + polite * thumb.polite * wrongClick,
  );
  near(
    share("ask size", "soup", false, ({ text }) => text === "size large"),
    1,
  );
  near(
    share("ask dish", "broth", false, ({ text }) => text === "i said soup"),
    1 - bored,
  );
  near(
    share("hello", "soup", false, ({ goes }) => goes !== undefined),
    bored,
  );
});

test("what is repeated is taken alike, and other moves meet other moods", async () => {
  const tasks = world.tasks("train").filter((task) => wantedIn(task).missing.length === 1);
  let others = 0;
  for (const task of tasks) {
    const { goal, missing } = wantedIn(task);
    const right = `offer ${goal.dish} ${goal.size} ${goal.time}`;
    const [short, long] = [[right], [`ask ${missing[0]}`, right]];
    assert.deepEqual(await played(task, long), await played(task, long));
    const thumb = async (actions: readonly string[]) =>
      (await played(task, actions)).at(-1)!.rewards?.outcome;
    if ((await thumb(short)) !== (await thumb(long))) others++;
  }
  assert.ok(others > 0.15 * tasks.length);
});

test("the start knows every word of the world, of its critiques and of what the methods say that ran from it", async () => {
  const ran = readFileSync(join(arena.folder, "runs.jsonl"), "utf8");
  const codec = await localCodec(join(arena.folder, "start"), []);
  const unknown = codec.encode("<unk>")[0];
  const texts = [
    ...world.vocabulary!(),
    ...world.critiqueVocabulary!(),
    ...methods.filter(({ id }) => ran.includes(`/${id}/`)).flatMap((m) => m.build({}).says ?? []),
  ];
  assert.ok(texts.length > 10, `${texts.length} texts`);
  for (const text of texts) assert.ok(!codec.encode(text).includes(unknown!), text);
});

test("a short run of GRPO keeps to the budget and is the same twice", async () => {
  const grpo = findMethod("grpo");
  const run = () =>
    runInArena(arena, grpo, { recipe: grpo, rate: arena.rates[1]!, seed: 3, commit: "", iterations: 1 });
  const [one, other] = [await run(), await run()];
  assert.equal(one.episodes, arena.budget.tasks * arena.budget.groupSize);
  assert.deepEqual({ ...one, seconds: 0 }, { ...other, seconds: 0 });
});
