/** `whetstone start`: the main job with its default settings. */
import { type Command, Option } from "commander";
import { type Device, devices } from "../engine/local/devices.ts";
import { freeFolder } from "./freeFolder.ts";
import { statedNumber } from "./numbers.ts";
import { addCommand, type Io } from "./output.ts";
import { trainRun } from "./train.ts";

interface StartOptions {
  readonly seed: string;
  readonly out?: string;
  readonly live?: boolean;
  readonly device?: Device;
}

export function addStart(program: Command, io: Io): void {
  addCommand(
    program,
    "start",
    "Train a search agent on real-world facts with GRPO: some minutes on a laptop.",
    ["whetstone start", "whetstone start --seed 2", "whetstone start --live", "whetstone start --device gpu"],
  )
    .option("--seed <n>", "seed of every random stream", "1")
    .option("--out <folder>", "folder of the run; if it is taken, the next free number is added")
    .option("--live", "show the run live in a browser; prints the address")
    .addOption(
      new Option("--device <name>", "execution device (default: WHETSTONE_DEVICE, or cpu)").choices(devices),
    )
    .action(async ({ seed: text, out, live = false, device }: StartOptions) => {
      const seed = statedNumber("--seed", text);
      await trainRun(
        {
          env: "facts",
          method: "grpo",
          engine: "local",
          seed,
          // a fresh run each time
          out: out ?? freeFolder("runs/facts-grpo", seed),
          ...(device && { device }),
        },
        io,
        { live },
      );
    });
}
