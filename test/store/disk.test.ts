/** A full disk: signals are refused in clear words, nothing is corrupted, and it goes on by itself once there is room. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { messageOf } from "../../src/core/errors.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { recorder } from "../../src/store/recorder.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { withCode } from "../train/world.ts";
import { folder } from "./each.ts";
import { startPostgres } from "./postgres.ts";
import { all, served, signal } from "./served.ts";

/** Mounts a small file system, or makes it larger. @returns why it cannot, if it cannot. */
function mounted(at: string, megabytes: number, more = ""): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root on Linux can mount";
  try {
    const size = `size=${megabytes}m,mode=777${more}`;
    execFileSync("mount", ["-t", "tmpfs", "-o", size, "none", at], { stdio: "pipe" });
    return undefined;
  } catch (e) {
    return `cannot mount here: ${messageOf(e).split("\n")[0]}`;
  }
}

/** 200 kB that no database compresses much. */
const noise = (): string => randomBytes(100_000).toString("hex");

/** Gives signals until one is refused, makes room, and looks at what is there. */
async function fill(where: string, makeRoom: () => void): Promise<void> {
  const store = await openTrafficStore(where);
  const recording = recorder(store, { delay: 1 });
  const taken: string[] = [];
  const give = async (i: number): Promise<void> => {
    await recording.receive(signal(`s${i}`, { key: `key-${i}`, received: i, text: noise() }));
    taken.push(`s${i}`);
  };
  let i = 0;
  await assert.rejects(
    async () => {
      for (; i < 2000; i++) await give(i);
    },
    withCode("store.full", /full disk.*Free some space/),
  );
  recording.record(served("s", 0));
  await assert.rejects(give(i), withCode("store.full"));
  assert.equal(recording.state().failing, "full");
  assert.deepEqual(
    (await all(store.signals())).map((s) => s.id),
    taken,
    "what was acknowledged can be read while the disk is full",
  );

  makeRoom();
  await give(i);
  await recording.flush();
  assert.deepEqual(recording.state(), { pending: 0, recorded: 1, lost: 0 });
  await store.close();
  const again = await openTrafficStore(where);
  assert.deepEqual(
    (await all(again.signals())).map((s) => s.id),
    taken,
  );
  assert.equal((await all(again.responses())).length, 1);
  await again.close();
}

test("SQLite: a disk that is really full, and has room again", async (t) => {
  const small = join(folder, "small");
  mkdirSync(small, { recursive: true });
  const missing = mounted(small, 2);
  if (missing !== undefined) return t.skip(missing);
  try {
    const file = join(small, "store.sqlite");
    await fill(file, () => assert.equal(mounted(small, 8, ",remount"), undefined));
    const database = openDatabase(file);
    assert.deepEqual({ ...database.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
    database.close();
  } finally {
    execFileSync("umount", ["-l", small]);
  }
});

test("PostgreSQL: a disk that is really full, and has room again", async (t) => {
  chmodSync(folder, 0o755); // the server runs as another user
  const small = join(folder, "small-postgres");
  mkdirSync(small, { recursive: true });
  const missing = mounted(small, 80);
  if (missing !== undefined) return t.skip(missing);
  try {
    // the log on the same disk would end the server: it is small, and its room is kept free
    const server = await startPostgres(
      { min_wal_size: "32MB", max_wal_size: "32MB", shared_buffers: "1MB" },
      small,
    );
    if (typeof server === "string") return t.skip(server);
    try {
      await fill(await server.database(), () => assert.equal(mounted(small, 200, ",remount"), undefined));
    } finally {
      await server.stop();
    }
  } finally {
    execFileSync("umount", ["-l", small]);
  }
});
