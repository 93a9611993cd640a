/** What a server's optimiser steps do to a few log-probabilities, measured through the rounding of 16-bit numbers. */

/** A measured number with its standard error. */
export interface Measured {
  readonly value: number;
  readonly error: number;
}

/** Standard error of a response at which it is believed: the closest two answers are 2/3 apart. */
const enough = 0.06;
/** Most steps in a row that one response takes. */
const mostSteps = 8;
/** Plain steps that tell by how much readings scatter. */
const steady = 6;
/** Most nats that a plain step may raise the targets by: larger ones leave the range in which a step follows its gradient. */
const mostAim = 1;

/**
 * Standard deviation of one rise, from rises of equal steps in a row; 0 for fewer than three. Second differences leave out that
 * steps drift as a model learns; the readings between neighbours are shared, so that their variance is ten times that of a rise.
 */
export function scatterOf(rises: readonly number[]): number {
  const bends = rises.slice(2).map((x, i) => x - 2 * rises[i + 1]! + rises[i]!);
  if (bends.length === 0) return 0;
  return Math.sqrt(bends.reduce((sum, x) => sum + x * x, 0) / bends.length / 10);
}

/** Which of two values a measured one is near, within a quarter of their distance and its error; undefined where it may be both or neither. */
export function nearer<T>(
  { value, error }: Measured,
  [a, whenA]: readonly [number, T],
  [b, whenB]: readonly [number, T],
): T | undefined {
  const room = Math.abs(a - b) / 4 + 2 * error;
  const [isA, isB] = [a, b].map((x) => Math.abs(value - x) <= room);
  if (isA === isB) return undefined;
  return isA ? whenA : whenB;
}

/** Steps of a learner under a rate, and what a plain one does. */
export interface Steps {
  /** Takes a step. @returns by how much the targets' log-probabilities have risen in total, nats. */
  readonly plain: () => Promise<number>;
  readonly rate: { value: number };
}

/**
 * Sets the rate so that a plain step rises by about `aim`, and by more where readings scatter.
 * @returns the mean rise of a plain step, that of the last one, and the standard deviation of one, nats.
 */
async function settle(
  { plain, rate }: Steps,
  aim: number,
): Promise<{ rise: number; last: number; scatter: number }> {
  for (let tries = 0; tries < 12; tries++) {
    const rise = await plain();
    if (rise > aim / 3 && rise < 2 * aim) break;
    rate.value *= rise > aim / 100 ? Math.max(1 / 16, Math.min(16, aim / rise)) : rise < 0 ? 1 / 16 : 16;
  }
  for (let tries = 0; ; tries++) {
    const rises: number[] = [];
    for (let i = 0; i < steady; i++) rises.push(await plain());
    const rise = rises.reduce((a, b) => a + b, 0) / steady;
    const scatter = scatterOf(rises);
    const wanted = Math.max(aim, Math.min(mostAim, (2 * scatter) / enough));
    const isNear = rise >= wanted / 2 && rise <= 1.5 * wanted;
    if (tries === 3 || isNear || rise <= 0) return { rise, last: rises.at(-1)!, scatter };
    rate.value *= Math.min(16, wanted / rise);
  }
}

/**
 * Measures responses: the rise of other steps relative to that of plain ones before and after them. Where readings scatter,
 * each is the mean of several steps in a row, in which only the first reading and the last err.
 */
export async function responses(
  steps: Steps,
  aim: number,
): Promise<{ readonly scatter: number; of(step: () => Promise<number>): Promise<Measured> }> {
  const { rise, last, scatter } = await settle(steps, aim);
  // of a response of 2, the largest that is expected, with plain steps of half the weight on either side
  const inARow = Math.max(1, Math.min(mostSteps, Math.ceil((3 * scatter) / (rise * enough)) || 1));
  const meanOf = async (step: () => Promise<number>): Promise<number> => {
    let risen = 0;
    for (let i = 0; i < inARow; i++) risen += await step();
    return risen / inARow;
  };
  // exact steps drift, coarse ones err
  let plain = inARow === 1 ? last : rise;
  return {
    scatter,
    async of(step) {
      const measured = await meanOf(step);
      const next = await meanOf(steps.plain);
      const over = (plain + next) / 2;
      plain = next;
      // a server that does not train responds to nothing
      if (over <= aim / 100) return { value: 0, error: 0 };
      const value = measured / over;
      return { value, error: (scatter * (1 + Math.abs(value))) / (over * inARow) };
    },
  };
}
