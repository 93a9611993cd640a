import assert from "node:assert/strict";
import { test } from "node:test";
import { isPostgresUrl, shownUrl } from "../../src/store/where.ts";

test("no part of a URL shows a password, however it is spelt", () => {
  for (const url of [
    "postgres://u:hunter2@db:5432/w",
    "postgres://u:12#hunter2@db/w",
    "postgres://u:12/hunter2@db/w",
    "postgres://u@db/w?password=hunter2",
    "postgres://u@db/w?sslpassword=hunter2",
    "postgres://u@db/w?PASSWORD=hunter2",
    "postgres://u@db/w#hunter2",
    "Postgres://u:hunter2@db/w",
    " postgres://u:hunter2@db/w",
    "postgres:/u:hunter2@db/w",
    "postgresql://u:hunter2@[db/w",
  ]) {
    assert.ok(isPostgresUrl(url), url);
    assert.doesNotMatch(shownUrl(url), /hunter2/, url);
  }
});

test("user, host, port, database and settings are shown, and files are no URLs", () => {
  assert.equal(
    shownUrl("postgres://ann:x@db:5433/whetstone?sslmode=require"),
    "postgres://ann@db:5433/whetstone?sslmode=require",
  );
  assert.equal(shownUrl("postgres://db/w"), "postgres://db/w");
  for (const file of ["runs/whetstone.sqlite", "postgres.sqlite", "./postgres"])
    assert.ok(!isPostgresUrl(file));
});
