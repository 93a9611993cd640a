/** `whetstone envs`: where agents can learn. */
import type { Command } from "commander";
import { environments } from "../env/index.ts";
import { addCommand, type Io, roomOf, table } from "./output.ts";

export function addEnvs(program: Command, io: Io): void {
  addCommand(program, "envs", "List the environments.", ["whetstone envs", "whetstone envs --json"]).action(
    () => {
      const rows = environments.map((entry) => {
        const environment = entry.make();
        const splits = Object.fromEntries(environment.splits.map((s) => [s, environment.tasks(s).length]));
        io.record({
          name: entry.name,
          summary: entry.summary,
          splits,
          abilities: [...environment.abilities],
          turns: environment.limits.turns,
        });
        const tasks = Object.entries(splits).map(([split, n]) => `${split} ${n}`);
        return [entry.name, entry.summary, String(environment.limits.turns), tasks.join(", ")];
      });
      io.say(
        ...table(["name", "what it is", "turns", "tasks"], rows, roomOf(io)),
        "",
        "Play one by hand: whetstone play facts",
      );
    },
  );
}
