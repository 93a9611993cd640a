import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Cell, cellMatch, equalTables, type Table } from "../../../src/common/text/tables.ts";

const table = (columns: string, ...rows: readonly (readonly Cell[])[]): Table => ({
  columns: columns.split(" "),
  rows,
});
const pets = table("name age", ["Rex", 3], ["Tom", 5], ["Ace", 7]);

test("cellMatch is worked by hand", () => {
  const cases: readonly (readonly [got: Table, match: number])[] = [
    [pets, 1],
    // one of two columns, all rows
    [table("name", ["Tom"], ["Rex"], ["Ace"]), 1 / 2],
    [table("n a", ["Tom", 1], ["Rex", 2], ["Ace", 3]), 1 / 2],
    // two of three rows, both columns
    [table("name age", ["Rex", 3], ["Ace", 7]), 2 / 3],
    // two of three rows, one column: (2 · 1) / (3 · 2)
    [table("name age", ["Rex", 4], ["Ace", 7]), 1 / 3],
    // a row too many is forgiven, also where its columns have other names and places
    [table("name age", ["Rex", 3], ["Tom", 5], ["Ace", 7], ["Eve", 1]), 1],
    // a row of another key: the longer table shrinks to two, the shorter keeps its three
    [table("name age", ["Rex", 3], ["Eve", 5]), 0],
    // columns too many cost nothing
    [table("x age name", [1, 5, "Tom"], [1, 7, "Ace"], [1, 3, "Rex"]), 1],
    // rows put together wrongly are not seen
    [table("name age", ["Rex", 7], ["Tom", 3], ["Ace", 5]), 1],
    [table("name age"), 0],
    [table("other", ["x"], ["y"], ["z"]), 0],
  ];
  for (const [got, match] of cases) {
    assert.ok(
      Math.abs(cellMatch(pets, got) - match) < 1e-12,
      `${JSON.stringify(got)}: ${cellMatch(pets, got)}`,
    );
  }
});

test("cellMatch: six rows more or less count for nothing, five may", () => {
  const rows = (n: number): Table => table("n", ...Array.from({ length: n }, (_, i) => [i]));
  assert.equal(cellMatch(rows(10), rows(4)), 0);
  assert.equal(cellMatch(rows(10), rows(5)), 1 / 2);
  assert.equal(cellMatch(rows(4), rows(9)), 1);
  assert.equal(cellMatch(rows(4), rows(9), { spareRows: 2 }), 0);
});

test("cellMatch: a column is used once, and numbers may differ a little", () => {
  const twice = table("a b", [1, 1], [2, 2]);
  assert.equal(cellMatch(twice, table("a", [2], [1])), 1 / 2);
  assert.equal(cellMatch(table("a", [1.0004], [2]), table("b", [1.004], [2])), 1);
  assert.equal(cellMatch(table("a", [1], [2]), table("b", [1.01], [2])), 0);
  assert.equal(cellMatch(table("a", [1]), table("b", ["1"])), 0);
});

test("cellMatch: a wanted table without rows is matched by the number of columns", () => {
  assert.equal(cellMatch(table("a b"), table("c")), 1 / 2);
  assert.equal(cellMatch(table("a b"), table("c d e")), 1);
  assert.equal(cellMatch(table("a"), table("c", ...Array.from({ length: 6 }, () => [1]))), 0);
});

test("cellMatch: the key stands first among texts, and is found by its name in the longer table", () => {
  const wanted = table("n name", [1, "Rex"], [2, "Tom"]);
  // name is second here and third there; of three rows those of Rex and Tom stay
  assert.equal(cellMatch(wanted, table("x n name", [0, 1, "Rex"], [0, 9, "Eve"], [0, 2, "Tom"])), 1);
});

const cell = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 3 }), fc.constantFrom("a", "b"));
const anyTable = fc.integer({ min: 1, max: 3 }).chain((width) =>
  fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 }).map((rows) => ({
    columns: Array.from({ length: width }, (_, k) => `c${k}`),
    rows,
  })),
);

test("cellMatch lies in [0, 1], is 1 for a table itself, and needs no order", () => {
  fc.assert(
    fc.property(anyTable, anyTable, (a, b) => {
      const match = cellMatch(a, b);
      assert.ok(match >= 0 && match <= 1);
      assert.equal(cellMatch(a, a), 1);
      assert.equal(cellMatch(a, { ...b, rows: b.rows.toReversed() }), match);
      if (equalTables(a, b)) assert.equal(match, 1);
    }),
    { seed: 1 },
  );
});

test("equalTables: same rows as often, in any order; columns in order", () => {
  const shuffledPets = table("n a", ["Ace", 7.0001], ["Rex", 3], ["Tom", 5]);
  assert.ok(equalTables(pets, shuffledPets));
  assert.ok(!equalTables(pets, table("age name", [3, "Rex"], [5, "Tom"], [7, "Ace"])));
  assert.ok(!equalTables(pets, table("name age", ["Rex", 7], ["Tom", 3], ["Ace", 5])));
  assert.ok(!equalTables(table("a", [1], [1], [2]), table("a", [1], [2], [2])));
});
