import assert from "node:assert/strict";
import { test } from "node:test";
import { chartDrawing, chartRows, type DrawnLine } from "../../web/src/parts/chartDrawing.ts";
import { percent } from "../../web/src/parts/words.ts";

const ink = { text: "black", line: "grey", ground: "white" };
const drawing = (x: readonly number[], lines: readonly DrawnLine[], words = percent): string =>
  chartDrawing({ title: "a < b", x, lines, ink, words });

test("marked points have their intervals, within the axis", () => {
  const range = { low: [0, null, 0.25], high: [0.5, null, 1] };
  const svg = drawing(
    [0, 1, 2],
    [{ name: "test", ink: "blue", values: [0.25, null, 0.5], range, marked: true }],
  );
  // the axis is from 0 at 320 to 1 at 36
  assert.match(svg, /d="M64\.0 320\.0L64\.0 178\.0M744\.0 249\.0L744\.0 36\.0"/);
  assert.equal(svg.match(/<circle /g)?.length, 2);
  assert.match(svg, />a &lt; b</);
});

test("the range of a curve is a band, and what was measured is behind the smooth curve", () => {
  const range = { low: [0, 0], high: [2, 2] };
  const svg = drawing([0, 1], [{ name: "reward", ink: "blue", values: [1, 1], measured: [0.5, 1.5], range }]);
  assert.match(svg, /d="M64\.0 36\.0L744\.0 36\.0L744\.0 320\.0L64\.0 320\.0Z" fill="blue" fill-opacity/);
  assert.match(svg, /d="M64\.0 249\.0L744\.0 107\.0" fill="none" stroke="blue" stroke-opacity/);
  assert.match(svg, /d="M64\.0 178\.0L744\.0 178\.0" fill="none" stroke="blue" stroke-width/);
});

test("a share that is always zero has the axis of a share", () => {
  const svg = drawing([0, 1], [{ name: "clipped", ink: "blue", values: [0, 0] }]);
  assert.deepEqual(svg.match(/[\d.]+ %/g), ["0.0 %", "25.0 %", "50.0 %", "75.0 %", "100.0 %"]);
});

test("as numbers, a line with a range has the ends of it", () => {
  const range = { low: [0, null], high: [0.5, null] };
  assert.deepEqual(
    chartRows(
      [0, 8],
      [
        { name: "test", values: [0.25, null], range },
        { name: "other", values: [1, 2] },
      ],
    ),
    [
      ["iteration", "test", "test, low", "test, high", "other"],
      [0, 0.25, 0, 0.5, 1],
      [8, null, null, null, 2],
    ],
  );
});
