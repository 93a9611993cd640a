import assert from "node:assert/strict";
import { test } from "node:test";
import { type Events, type Lost, type PoolOptions, pool } from "../../src/sandbox/pool.ts";

interface Cellar {
  readonly options: Omit<PoolOptions<string, string>, "seconds">;
  readonly opened: Events<string>[];
  readonly killed: number[];
}

/** Cells that answer what they are sent with `answer`; nothing where that is undefined. */
function cellar(answer: (job: string, events: Events<string>) => string | undefined, size = 1): Cellar {
  const opened: Events<string>[] = [];
  const killed: number[] = [];
  return {
    opened,
    killed,
    options: {
      size,
      open: (events) => {
        const number = opened.push(events) - 1;
        setImmediate(events.ready);
        return {
          send(job) {
            const reply = answer(job, events);
            if (reply !== undefined) setImmediate(() => events.reply(reply, reply === "spoiled"));
          },
          kill: () => void killed.push(number),
          hold: () => {},
        };
      },
    },
  };
}

test("pool: one job at a time in each cell, cells only as many as are wanted", async () => {
  let [under, most] = [0, 0];
  const cells = cellar((job, events) => {
    most = Math.max(most, ++under);
    setImmediate(() => {
      under--;
      events.reply(`${job}!`, false);
    });
    return undefined;
  }, 2);
  const jobs = pool({ ...cells.options, seconds: 1 });
  assert.equal(await jobs.run("a"), "a!");
  assert.equal(cells.opened.length, 1, "one job starts one cell");
  const many = await Promise.all(["b", "c", "d", "e"].map(jobs.run));
  assert.deepEqual(many, ["b!", "c!", "d!", "e!"]);
  assert.equal(cells.opened.length, 2);
  assert.equal(most, 2);
});

test("pool: a cell that does not answer is killed, its job is late, and the next job gets a new cell", async () => {
  const cells = cellar((job) => (job === "hang" ? undefined : job));
  const jobs = pool({ ...cells.options, seconds: 0.02 });
  const [hung, next] = await Promise.all([jobs.run("hang"), jobs.run("next")]);
  assert.deepEqual(hung, { lost: "late" });
  assert.equal(next, "next");
  assert.deepEqual(cells.killed, [0]);
});

test("pool: a spoiled cell still answers, and is not used again", async () => {
  const cells = cellar((job) => job);
  const jobs = pool({ ...cells.options, seconds: 1 });
  assert.deepEqual(await Promise.all([jobs.run("spoiled"), jobs.run("next")]), ["spoiled", "next"]);
  assert.deepEqual(cells.killed, [0]);
  assert.equal(cells.opened.length, 2);
});

test("pool: a cell that dies takes its own job with it", async () => {
  const cells = cellar((job, events) => {
    if (job !== "die") return job;
    events.died("by itself");
    events.died("told twice");
    return undefined;
  });
  const jobs = pool({ ...cells.options, seconds: 1 });
  assert.deepEqual(await Promise.all([jobs.run("die"), jobs.run("next")]), [
    { lost: "died", message: "by itself" },
    "next",
  ]);
});

test("pool: where no cell can start, each try costs one job, and none waits for ever", async () => {
  let tries = 0;
  const jobs = pool<string, string>({
    size: 1,
    seconds: 1,
    open: ({ died }) => {
      tries++;
      setImmediate(() => died("cannot start"));
      return { send: () => {}, kill: () => {}, hold: () => {} };
    },
  });
  const lost: Lost = { lost: "died", message: "cannot start" };
  assert.deepEqual(await Promise.all([jobs.run("a"), jobs.run("b")]), [lost, lost]);
  assert.equal(tries, 2);
});

test("pool: closing loses what is under way and what waits, and kills every cell", async () => {
  const cells = cellar(() => undefined);
  const jobs = pool({ ...cells.options, seconds: 60 });
  const both = [jobs.run("a"), jobs.run("b")];
  await new Promise((resolve) => setTimeout(resolve, 5));
  jobs.close();
  const lost: Lost = { lost: "died", message: "closed" };
  assert.deepEqual(await Promise.all(both), [lost, lost]);
  assert.deepEqual(cells.killed, [0]);
});
