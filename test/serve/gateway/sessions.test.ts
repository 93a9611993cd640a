import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ServedChoice, ServedResponse } from "../../../src/core/served.ts";
import type { Message, TurnTokens } from "../../../src/core/types.ts";
import { pathOf } from "../../../src/serve/gateway/path.ts";
import { type SessionTable, sessionTable } from "../../../src/serve/gateway/sessions.ts";
import { served } from "../memory.ts";

const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });
const system: Message = { role: "system", content: "Be kind." };
const choice = (content: string, tokens?: TurnTokens): ServedChoice => ({
  message: assistant(content),
  stop: "eos",
  ...(tokens ? { tokens } : {}),
});

async function open(
  table: SessionTable,
  prompt: readonly Message[],
  named: { readonly session?: string; readonly user?: string } = {},
) {
  return table.open({ ...named, path: await pathOf(prompt) });
}

/** One call, answered at once. */
async function ask(
  table: SessionTable,
  prompt: readonly Message[],
  replies: readonly string[],
  session?: string,
  at = 0,
) {
  const opened = await open(table, prompt, session === undefined ? {} : { session });
  return {
    session: opened.session,
    ...table.place(
      { ...opened, at },
      replies.map((r) => choice(r)),
    ),
  };
}

test("without a name, a prompt that goes on from a reply is of its session; every other begins one", async () => {
  const table = sessionTable();
  const first = await ask(table, [system, user("a")], ["b"]);
  assert.deepEqual([first.trajectory, first.turn, first.cut], [`${first.session}/0`, 0, undefined]);
  const second = await ask(table, [system, user("a"), assistant("b"), user("c")], ["d"]);
  assert.deepEqual({ ...second }, { session: first.session, trajectory: first.trajectory, turn: 1 });
  const other = await ask(table, [system, user("a"), assistant("not b"), user("c")], ["d"]);
  assert.notEqual(other.session, first.session);
  // the same conversation of somebody else
  const prompt = [system, user("a"), assistant("b"), user("c"), assistant("d"), user("e")];
  assert.notEqual((await open(table, prompt, { user: "bob" })).session, first.session);
  assert.equal((await open(table, prompt)).session, first.session);
});

test("conversations that begin alike, replies and all, are as many sessions, one after the other and at once", async () => {
  for (const atOnce of [false, true]) {
    const table = sessionTable();
    const begun = [];
    for (const said of ["hi", "hi", "hi"]) begun.push((await ask(table, [user(said)], ["hello"])).session);
    assert.equal(new Set(begun).size, 3);
    const opening = [user("hi"), assistant("hello")];
    const calls = [];
    for (const said of ["a", "b", "a"]) {
      const opened = await open(table, [...opening, user(said)]);
      table.begin(opened);
      const place = atOnce ? undefined : table.place({ ...opened, at: 0 }, [choice("on")]);
      calls.push({ opened, place });
    }
    assert.deepEqual(new Set(calls.map(({ opened }) => opened.session)), new Set(begun));
    for (const { opened, place } of calls) {
      const { turn, cut } = place ?? table.place({ ...opened, at: 0 }, [choice("on")]);
      assert.deepEqual([turn, cut], [1, undefined]);
    }
  }
});

test("one conversation that is asked twice at once is one session, and so is one that is asked again after it failed", async () => {
  const table = sessionTable();
  const { session } = await ask(table, [user("hi")], ["hello"]);
  const prompt = [user("hi"), assistant("hello"), user("a")];
  const [first, second] = [await open(table, prompt), await open(table, prompt)];
  table.begin(first);
  table.begin(second);
  assert.deepEqual([first.session, second.session], [session, session]);
  table.abandon(second);
  assert.equal(table.place({ ...first, at: 0 }, []).turn, 1);
  assert.equal((await open(table, prompt)).session, session);
});

test("a session is whose call came first, from its beginning on", async () => {
  const table = sessionTable();
  assert.equal(table.ownerOf("s"), undefined);
  const opened = await open(table, [user("hi")], { session: "s", user: "ann" });
  table.begin(opened);
  const other = await open(table, [user("hi")], { session: "s", user: "bob" });
  table.begin(other);
  assert.equal(table.ownerOf("s")?.user, "ann");
  table.abandon(other);
  assert.equal(table.ownerOf("s")?.user, "ann");
  table.place({ ...opened, user: "ann", at: 0 }, [choice("hello")]);
  assert.equal(table.ownerOf("s")?.user, "ann");
  const failed = await open(table, [user("hi")], { session: "t", user: "ann" });
  table.begin(failed);
  table.place({ ...failed, user: "ann", at: 0 }, []);
  assert.equal(table.ownerOf("t")?.user, "ann");
  const later = await open(table, [user("hi")], { session: "t", user: "bob" });
  table.begin(later);
  table.place({ ...later, user: "bob", at: 0 }, [choice("hello")]);
  assert.equal(table.ownerOf("t")?.user, "ann");
});

test("whose a session is that nobody was answered in is read from the store, and takes bounded memory", async () => {
  const table = sessionTable();
  await table.remember(served({ id: "r", session: "t", user: "ann", choices: [], status: "failed" }));
  assert.equal(table.ownerOf("t")?.user, "ann");
  assert.equal(table.knows("t"), false);
  for (let i = 0; i < 10_000; i++) {
    const failed = await open(table, [user("hi")], { session: `s${i}`, user: "bob" });
    table.begin(failed);
    table.place({ ...failed, user: "bob", at: 0 }, []);
  }
  assert.equal(table.ownerOf("t"), undefined);
  assert.equal(table.ownerOf("s9999")?.user, "bob");
  assert.equal(table.size, 0);
});

test("of several replies the conversation may go on from any, once", async () => {
  const table = sessionTable();
  await ask(table, [user("a")], ["b", "c"], "s");
  const on = await ask(table, [user("a"), assistant("c"), user("d")], ["e"], "s");
  assert.deepEqual([on.trajectory, on.turn, on.cut], ["s/0", 1, undefined]);
  const again = await ask(table, [user("a"), assistant("b"), user("d")], ["e"], "s");
  assert.deepEqual([again.trajectory, again.turn, again.cut], ["s/1", 0, "branched"]);
});

test("what is no continuation is cut, and why is told", async () => {
  const table = sessionTable();
  const start = [system, user("a")];
  const said = [...start, assistant("b"), user("c")];
  await ask(table, start, ["b"], "s");
  assert.equal((await ask(table, start, ["b"], "s")).cut, "retried");
  await ask(table, said, ["d"], "s");
  assert.equal((await ask(table, [...start, assistant("b"), user("other")], ["x"], "s")).cut, "branched");
  assert.equal((await ask(table, [...start, assistant("B"), user("c")], ["x"], "s")).cut, "edited");
  assert.equal((await ask(table, [user("z")], ["x"], "s")).cut, "unrelated");
  const tools = [{ name: "t", description: "", parameters: {} }];
  const offered = [{ ...system, tools }, ...said.slice(1), assistant("d"), user("e")];
  assert.equal((await ask(table, offered, ["x"], "s")).cut, "tools");
  assert.deepEqual(table.state("s"), {
    id: "s",
    trajectories: 6,
    cuts: { retried: 1, branched: 1, edited: 1, unrelated: 1, tools: 1 },
    brokenPrefixes: 0,
  });
});

test("conversations of one session that take turns with each other are a trajectory each", async () => {
  const table = sessionTable();
  await ask(table, [user("main")], ["m1"], "s");
  await ask(table, [user("helper")], ["h1"], "s");
  const main = await ask(table, [user("main"), assistant("m1"), user("on")], ["m2"], "s");
  const helper = await ask(table, [user("helper"), assistant("h1"), user("on")], ["h2"], "s");
  assert.deepEqual([main.trajectory, main.turn], ["s/0", 1]);
  assert.deepEqual([helper.trajectory, helper.turn], ["s/1", 1]);
});

test("a call that failed stands where its answer would have, and leaves nothing", async () => {
  const table = sessionTable();
  await ask(table, [user("a")], ["b"], "s");
  const prompt = [user("a"), assistant("b"), user("c")];
  const failed = await ask(table, prompt, [], "s");
  const answered = await ask(table, prompt, ["d"], "s");
  assert.deepEqual({ ...failed }, { ...answered });
  assert.deepEqual([answered.trajectory, answered.turn, answered.cut], ["s/0", 1, undefined]);
});

test("arguments written anew say the same, ids of calls are no words, and an empty text is none", async () => {
  const table = sessionTable();
  const call = (id: string, given: string): Message => ({
    role: "assistant",
    content: "",
    toolCalls: [{ id, name: "t", arguments: given }],
  });
  const opened = await open(table, [user("a")], { session: "s" });
  table.place({ ...opened, at: 0 }, [{ message: call("1", '{"x": 1}'), stop: "eos" }]);
  const prompt = [user("a"), call("2", '{"x":1}'), { role: "tool", content: "r", toolCallId: "2" } as const];
  assert.equal((await ask(table, prompt, ["done"], "s")).turn, 1);
});

const tokens = (prompt: readonly number[], action: readonly number[]): TurnTokens => ({
  prompt: Int32Array.from(prompt),
  action: Int32Array.from(action),
  logp: new Float32Array(action.length),
  behaviour: new Float32Array(action.length),
});

test("whether the next prompt's tokens begin with those of before is told, and does not cut", async () => {
  const table = sessionTable();
  const turn = async (prompt: readonly Message[], reply: string, exact: TurnTokens) =>
    table.place({ ...(await open(table, prompt, { session: "s" })), at: 0 }, [choice(reply, exact)]);
  const one = await turn([user("a")], "b", tokens([1, 2], [3]));
  assert.equal(one.prefix, undefined);
  const two = await turn([user("a"), assistant("b"), user("c")], "d", tokens([1, 2, 3, 9], [4]));
  assert.equal(two.prefix, "kept");
  // the template wrote the reply in another way
  const said = [user("a"), assistant("b"), user("c"), assistant("d"), user("e")];
  const three = await turn(said, "f", tokens([1, 2, 3, 9, 5, 6], [4]));
  assert.deepEqual([three.prefix, three.trajectory, three.turn], ["broken", "s/0", 2]);
  assert.equal(table.state("s")?.brokenPrefixes, 1);
});

const stored = (
  trajectory: string,
  turn: number,
  prompt: readonly Message[],
  reply: string,
): ServedResponse => ({
  id: `${trajectory}/${turn}`,
  session: "s",
  trajectory,
  turn,
  origin: "gateway",
  at: 0,
  ms: 0,
  version: "v",
  propensity: 1,
  model: "m",
  settings: {},
  prompt,
  choices: [choice(reply)],
  status: "complete",
  channels: [],
  tags: {},
});

test("what is stored goes on where it was", async () => {
  const table = sessionTable();
  assert.equal(table.knows("s"), false);
  await table.remember(stored("s/0", 0, [user("a")], "b"));
  await table.remember(stored("s/0", 1, [user("a"), assistant("b"), user("c")], "d"));
  await table.remember(stored("s/1", 0, [user("z")], "y"));
  const prompt = [user("a"), assistant("b"), user("c"), assistant("d"), user("e")];
  const nameless = await open(table, prompt);
  assert.equal(nameless.session, "s");
  assert.deepEqual(table.place({ ...nameless, at: 0 }, [choice("f")]), { trajectory: "s/0", turn: 2 });
  assert.equal((await ask(table, [user("new")], ["x"], "s")).trajectory, "s/2");
  assert.equal((await ask(table, [user("a"), assistant("b"), user("x")], ["x"], "s")).cut, "branched");
});

test("memory is bounded: those silent longest are forgotten, and begin anew", async () => {
  const table = sessionTable({ most: 10, mostOfOne: 4 });
  for (let i = 0; i < 50; i++) await ask(table, [user(`${i}`)], ["x"], `s${i}`);
  assert.equal(table.size, 10);
  assert.equal(table.knows("s39"), false);
  assert.equal(table.knows("s40"), true);
  for (let i = 0; i < 50; i++) await ask(table, [user(`${i}`)], ["x"], "s49");
  assert.equal((await ask(table, [user("49"), assistant("x"), user("y")], ["z"], "s49")).turn, 1);
  assert.equal((await ask(table, [user("40"), assistant("x"), user("y")], ["z"], "s49")).turn, 0);
});

test("memory is bounded while nobody answers: sessions begin with their first answer", async () => {
  const table = sessionTable({ most: 10 });
  for (let i = 0; i < 50; i++) await ask(table, [user(`${i}`)], []);
  assert.equal(table.size, 0);
  await ask(table, [user("a")], ["b"], "s", 1000);
  await ask(table, [user("a"), assistant("b"), user("c")], [], "s", 3_601_500);
  await ask(table, [user("a")], ["b"], "t", 3_601_600);
  assert.equal(table.knows("s"), true, "a call that failed is heard of all the same");
});

test("a long session is read from the store in time that grows with it, not with its square", async () => {
  let reads = 0;
  const heard = (content: string): Message => ({
    content,
    get role() {
      reads++;
      return "user" as const;
    },
  });
  const table = sessionTable();
  const said: Message[] = [];
  const turns = 100;
  for (let turn = 0; turn < turns; turn++) {
    said.push(heard(`${turn}`));
    await table.remember(stored("s/0", turn, [...said], "ok"));
    said.push(assistant("ok"));
  }
  assert.ok(reads <= 5 * turns, `${reads} reads of ${turns} messages`);
  const next = [...said, user("more")];
  assert.deepEqual(table.place({ ...(await open(table, next)), at: 0 }, [choice("x")]), {
    trajectory: "s/0",
    turn: turns,
  });
});

test("an hour of silence, and a session is forgotten", async () => {
  const table = sessionTable();
  await ask(table, [user("a")], ["b"], "s", 1000);
  await ask(table, [user("a")], ["b"], "t", 2000);
  await ask(table, [user("a")], ["b"], "u", 3_601_500);
  assert.deepEqual([table.knows("s"), table.knows("t"), table.size], [false, true, 2]);
});

test("law: conversations that only go on are one trajectory each, however their calls are mixed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      async (order, named) => {
        const table = sessionTable();
        const talks = [0, 1, 2, 3].map((k) => ({ said: [user(`${k}`)], session: "", turns: 0 }));
        for (const k of order) {
          const talk = talks[k]!;
          const reply = `${k}.${talk.turns}`;
          const placed = await ask(table, talk.said, [reply], named ? "s" : undefined);
          assert.equal(placed.turn, talk.turns);
          if (talk.turns > 0) assert.equal(placed.trajectory, talk.session);
          talk.session = placed.trajectory;
          talk.turns++;
          talk.said = [...talk.said, assistant(reply), user("go on")];
        }
        const used = talks.filter(({ turns }) => turns > 0);
        assert.equal(new Set(used.map(({ session }) => session)).size, used.length);
      },
    ),
    { seed: 1, numRuns: 100 },
  );
});
