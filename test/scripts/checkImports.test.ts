import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  checkFile,
  checkFolder,
  circlesIn,
  circlesOf,
  importsOf,
  placeOf,
  tooLong,
} from "../../scripts/check-imports.ts";
import { temporary } from "../temporary.ts";

const breaks = (path: string, from: string): boolean =>
  checkFile(path, `import { x } from "${from}";\n`).length > 0;

test("the sources keep to the rooms", () => {
  assert.deepEqual(checkFolder("src"), []);
});

test("no files of the sources import each other, but for those that are named", () => {
  assert.deepEqual(circlesOf("src"), []);
});

test("no file is too long, and one that is too long is found", () => {
  assert.deepEqual(tooLong("."), []);
  const root = mkdtempSync(join(temporary, "long-"));
  mkdirSync(join(root, "src"));
  const write = (name: string, lines: number): void =>
    writeFileSync(join(root, "src", name), "export {};\n".repeat(lines));
  write("short.ts", 400);
  write("long.ts", 401);
  write("long.test.ts", 401);
  write("words.data.ts", 401);
  assert.deepEqual(tooLong(root), [{ file: "src/long.ts", lines: 401 }]);
});

test("circles are found, each once, however long, and however they are reached", () => {
  const circles = (graph: Readonly<Record<string, readonly string[]>>): string[][] =>
    circlesIn(new Map(Object.entries(graph)));
  assert.deepEqual(circles({ a: ["b", "c"], b: ["d"], c: ["d"], d: ["elsewhere"] }), []);
  assert.deepEqual(circles({ a: ["b"], b: ["a"] }), [["a", "b"]]);
  assert.deepEqual(circles({ a: ["a"] }), [["a"]]);
  // into a circle from outside, and out of it into another one
  assert.deepEqual(circles({ x: ["c"], c: ["a"], a: ["b"], b: ["c", "d"], d: ["e"], e: ["d", "f"], f: [] }), [
    ["a", "b", "c"],
    ["d", "e"],
  ]);
  // two circles that share a file are one
  assert.deepEqual(circles({ a: ["b", "c"], b: ["a"], c: ["a"] }), [["a", "b", "c"]]);
});

test("an import that breaks a rule is caught, with its line and what is allowed", () => {
  assert.deepEqual(
    checkFile("advantage/x.ts", `// a note\nimport type { E } from "../env/environment.ts";\n`),
    [
      {
        file: "advantage/x.ts",
        line: 2,
        imports: "env/environment.ts",
        why: "advantage may import itself, core, common",
      },
    ],
  );
});

test("each rule, from both sides", () => {
  const forbidden: [string, string][] = [
    ["core/x.ts", "../tensor/graph.ts"],
    ["tensor/x.ts", "../engine/engine.ts"],
    ["env/facts.ts", "../engine/engine.ts"],
    ["store/x.ts", "../env/environment.ts"],
    ["engine/tabular/x.ts", "../local/model.ts"],
    ["engine/tabular/x.ts", "../../tensor/graph.ts"],
    ["engine/engine.ts", "./local/model.ts"],
    ["rollout/x.ts", "../feedback/outcome.ts"],
    ["feedback/x.ts", "../engine/local/model.ts"],
    ["feedback/x.ts", "../env/facts.ts"],
    ["credit/x.ts", "../engine/engine.ts"],
    ["objective/x.ts", "../env/environment.ts"],
    ["method/group/x.ts", "../../engine/engine.ts"],
    ["train/loop.ts", "../engine/local/index.ts"],
    ["train/run.ts", "../engine/local/index.ts"],
    ["train/loop.ts", "../cli/train.ts"],
    ["diagnose/x.ts", "../serve/server.ts"],
    ["suite/x.ts", "../engine/local/index.ts"],
    ["env/x.ts", "../suite/suite.ts"],
    ["nowhere/x.ts", "../core/words.ts"],
  ];
  for (const [path, from] of forbidden) assert.equal(breaks(path, from), true, `${path} imports ${from}`);
  const allowed: [string, string][] = [
    ["core/x.ts", "./words.ts"],
    ["engine/local/deep/x.ts", "../../../tensor/graph.ts"],
    ["engine/local/x.ts", "../engine.ts"],
    ["engine/index.ts", "./local/index.ts"],
    ["rollout/x.ts", "../env/environment.ts"],
    ["method/group/x.ts", "../../credit/turn.ts"],
    ["train/loop.ts", "../store/store.ts"],
    ["train/run.ts", "./loop.ts"],
    ["suite/x.ts", "../env/facts/facts.ts"],
    ["cli/train.ts", "../train/run.ts"],
    ["index.ts", "./engine/local/index.ts"],
  ];
  for (const [path, from] of allowed) assert.equal(breaks(path, from), false, `${path} imports ${from}`);
});

test("every form of import counts; comments and packages do not", () => {
  const source = [
    `import a from "./a.ts";`,
    `import "./b.ts";`,
    `export * from "./c.ts";`,
    `import {`,
    `  d,`,
    `} from "./d.ts";`,
    `const e = await import("./e.ts");`,
    ` * import f from "./f.ts";`,
    `// import g from "./g.ts";`,
    `import h from "zod";`,
  ].join("\n");
  assert.deepEqual(
    importsOf(source).map((i) => `${i.line} ${i.from}`),
    ["1 ./a.ts", "2 ./b.ts", "3 ./c.ts", "6 ./d.ts", "7 ./e.ts"],
  );
});

test("the longest place counts", () => {
  assert.equal(placeOf("engine/local/model.ts"), "engine/local");
  assert.equal(placeOf("engine/engine.ts"), "engine");
  assert.equal(placeOf("train/run.ts"), "train");
});
