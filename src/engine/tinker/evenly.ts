/** Few numbers of datums, for a server that compiles a program for each. */
import { type Datum, textInput } from "./protocol.ts";
import type { Trainer } from "./trainer.ts";

/** How many datums a trainer gets for n: the smallest number with three binary digits that has room for them, 36 numbers up to 1,024. */
export function evenCount({ compiles }: Pick<Trainer, "compiles">, n: number): number {
  const step = compiles ? 2 ** Math.max(0, Math.floor(Math.log2(n)) - 2) : 1;
  return Math.ceil(n / step) * step;
}

/** One token whose weights are 0, with the numbers that a loss wants of a datum. */
function emptyLike({ loss_fn_inputs }: Datum): Datum {
  const inputs = Object.entries(loss_fn_inputs).map(([name, { dtype, data, shape }]) => {
    const own = [1, ...shape.slice(1)];
    const cells = data.slice(
      0,
      own.reduce((x, y) => x * y),
    );
    return [name, { dtype, data: name === "target_tokens" ? cells : cells.fill(0), shape: own }] as const;
  });
  const model_input = textInput(loss_fn_inputs.target_tokens!.data.slice(0, 1));
  return { model_input, loss_fn_inputs: Object.fromEntries(inputs) };
}

/** A pass over these datums, filled up with empty ones. @returns the log-probabilities of the given ones. */
export async function evenPass(
  trainer: Trainer,
  data: readonly Datum[],
  lossFn: string,
  forwardOnly: boolean,
): Promise<Float32Array[]> {
  const more = evenCount(trainer, data.length) - data.length;
  const filled = more > 0 ? [...data, ...new Array<Datum>(more).fill(emptyLike(data[0]!))] : data;
  return (await trainer.pass(filled, lossFn, forwardOnly)).slice(0, data.length);
}
