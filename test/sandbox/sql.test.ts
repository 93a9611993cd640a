import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inWords } from "../../src/sandbox/outcome.ts";
import { type SqlOutcome, sqlSandbox } from "../../src/sandbox/sql.ts";

const setup =
  "CREATE TABLE pets (name TEXT, kind TEXT, age INTEGER); INSERT INTO pets VALUES ('Rex', 'dog', 3), ('Tom', 'cat', 5), ('Ace', 'dog', NULL);";
const sandbox = sqlSandbox({ setup, limits: { seconds: 0.5, memory: 2 ** 25 } });
const folder = mkdtempSync(join(tmpdir(), "whetstone-sql-"));
after(() => {
  sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});
const outside = join(folder, "outside.db");

type Kind = SqlOutcome["kind"];
const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)";

const hostile: Readonly<Record<string, readonly [sql: string, ...ends: Kind[]]>> = {
  "a recursive query that never ends": [`${endless} SELECT count(*) FROM c`, "timeout"],
  "a recursive query that returns for ever": [`${endless} SELECT x FROM c`, "output"],
  "a recursive query that fills memory": [`${endless} SELECT x FROM c ORDER BY x DESC`, "memory", "timeout"],
  "a recursive string that doubles": [
    "WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT length(x) FROM c",
    "memory",
    "output",
  ],
  "a product of a table with itself, twelve times": [
    `SELECT count(*) FROM ${Array.from({ length: 24 }, (_, i) => `pets p${i}`).join(", ")}`,
    "timeout",
  ],
  "a huge string": ["SELECT printf('%.*c', 1000000000, 'x')", "memory", "output"],
  "a huge blob": ["SELECT hex(zeroblob(900000000))", "memory", "output"],
  "a long string": ["SELECT printf('%.*c', 1000000, 'x')", "output"],
  "a product that is sorted": [
    `SELECT p0.name || p9.name AS x FROM ${Array.from({ length: 20 }, (_, i) => `pets p${i}`).join(", ")} ORDER BY x`,
    "timeout",
    "memory",
  ],
  "deep nesting": [`SELECT ${"(".repeat(5000)}1${")".repeat(5000)}`, "error"],
  "many unions": [Array.from({ length: 2000 }, () => "SELECT 1").join(" UNION ALL "), "error"],
  "a file attached": [`ATTACH '${outside}' AS other`, "error"],
  "a file written": [`VACUUM INTO '${outside}'`, "error"],
  "a file read": ["SELECT readfile('/etc/passwd')", "error"],
  "a file written by a function": [`SELECT writefile('${outside}', 'x')`, "error"],
  "an extension": ["SELECT load_extension('libc.so.6')", "error"],
  "a setting": ["PRAGMA hard_heap_limit = 0", "error"],
  "a setting read": ["PRAGMA database_list", "error"],
  "a setting as a table": ["SELECT * FROM pragma_database_list", "error"],
  "a writable schema": ["PRAGMA writable_schema = 1", "error"],
  "an insertion": ["INSERT INTO pets VALUES ('Eve', 'cat', 1)", "error"],
  "an update": ["UPDATE pets SET age = 0", "error"],
  "a deletion": ["DELETE FROM pets", "error"],
  "a table dropped": ["DROP TABLE pets", "error"],
  "a table made": ["CREATE TABLE more AS SELECT * FROM pets", "error"],
  "a temporary table": ["CREATE TEMP TABLE pets (name TEXT)", "error"],
  "a virtual table": ["CREATE VIRTUAL TABLE v USING fts5(x)", "error"],
  "a trigger": ["CREATE TRIGGER t AFTER INSERT ON pets BEGIN DELETE FROM pets; END", "error"],
  "a transaction left open": ["BEGIN EXCLUSIVE", "error"],
  "a second statement": ["SELECT 1; DROP TABLE pets", "error"],
  "a tail of comments that never ends": [`SELECT 1; ${"/**/".repeat(2000)} x`, "error"],
  "the clock": ["SELECT datetime('now')", "error"],
  "the clock as a keyword": ["SELECT current_timestamp", "error"],
  chance: ["SELECT random()", "error"],
  "a parser's weakness": ["SELECT fts3_tokenizer('simple')", "error"],
  nothing: ["", "error"],
  "no SQL": ["' OR 1=1 --", "error"],
};

for (const [what, [sql, ...ends]] of Object.entries(hostile)) {
  test(`sqlSandbox contains ${what}, and the next statement runs`, async () => {
    const outcome = await sandbox.run(sql);
    assert.ok(ends.includes(outcome.kind), JSON.stringify(outcome).slice(0, 300));
    assert.ok(outcome.kind !== "ok" && inWords(outcome).length <= 600);
    assert.ok(!existsSync(outside));
    assert.deepEqual(await sandbox.run("SELECT count(*) AS n, total(age) FROM pets"), {
      kind: "ok",
      columns: ["n", "total(age)"],
      rows: [[3, 8]],
    });
  });
}

test("sqlSandbox: rows in order, with their names; nothing is null, a blob is written out", async () => {
  assert.deepEqual(
    await sandbox.run("SELECT name, age, x'0aff' AS b FROM pets ORDER BY name -- the end\n;"),
    {
      kind: "ok",
      columns: ["name", "age", "b"],
      rows: [
        ["Ace", null, "x'0aff'"],
        ["Rex", 3, "x'0aff'"],
        ["Tom", 5, "x'0aff'"],
      ],
    },
  );
  assert.deepEqual(await sandbox.run("SELECT name FROM pets WHERE age > 9"), {
    kind: "ok",
    columns: ["name"],
    rows: [],
  });
});

test("sqlSandbox: columns of one name stay apart", async () => {
  const outcome = await sandbox.run("SELECT age, age FROM pets WHERE name = 'Rex'");
  assert.deepEqual(outcome.kind === "ok" && outcome.rows, [[3, 3]]);
});

test("sqlSandbox: SQLite's own words", async () => {
  const said = async (sql: string): Promise<string> => {
    const outcome = await sandbox.run(sql);
    return outcome.kind === "ok" ? "" : inWords(outcome);
  };
  assert.equal(await said("SELECT nam FROM pets"), "no such column: nam");
  assert.equal(await said("SELEC 1"), 'near "SELEC": syntax error');
  assert.equal(await said("DELETE FROM pets"), "not authorized: only SELECT may be used here");
  assert.equal(await said("SELECT random()"), "not authorized to use function: random");
  assert.equal(await said("SELECT 1; SELECT 2"), "one statement at a time");
});

test("sqlSandbox: a setup that fails is told, and nobody waits for ever", async () => {
  const broken = sqlSandbox({ setup: "CREATE NONSENSE" });
  assert.equal((await broken.run("SELECT 1")).kind, "crashed");
  broken.close();
});

test("sqlSandbox: a statement that never ends does not outlive a run that is killed", {
  skip: process.platform !== "linux" && "reads /proc",
}, async () => {
  const run = spawn(process.execPath, [fileURLToPath(new URL("./endless.ts", import.meta.url))]);
  await once(run.stdout, "data");
  const children = readFileSync(`/proc/${run.pid}/task/${run.pid}/children`, "utf8").trim().split(" ");
  assert.equal(children.length, 1);
  run.kill("SIGKILL");
  await once(run, "exit");
  const deadline = performance.now() + 10_000;
  while (runs(children[0]!) && performance.now() < deadline) await sleep(20);
  assert.ok(!runs(children[0]!));
});

test("sqlSandbox: a process whose parent was gone before it was watched ends as well", async () => {
  const watcher = new URL("../../src/sandbox/sqlWatch.ts", import.meta.url).href;
  const code = `new (require("node:worker_threads").Worker)(new URL("${watcher}"), { workerData: { limit: Infinity, parent: 0 } })`;
  const [, signal] = await once(spawn(process.execPath, ["-e", code]), "exit");
  assert.equal(signal, "SIGKILL");
});

/** Whether a process is there and no zombie, which is what is left of one until its parent looks. */
function runs(pid: string): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
