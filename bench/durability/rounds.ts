/** Kill -9 at random moments under load: what was acknowledged is there, once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Random } from "../../src/core/random.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { Asked, Said } from "./writer.ts";

export interface KillRounds {
  readonly rounds: number;
  readonly signals: number;
  readonly acknowledged: number;
  /** Sent again after a kill; those that had been written all the same were known by their keys. */
  readonly sentAgain: number;
  readonly knownByKey: number;
  /** Acknowledged, and not there: must be 0. */
  readonly lost: number;
  /** There twice: must be 0. */
  readonly doubled: number;
  /** Traffic taken, and what was lost of it. */
  readonly taken: number;
  readonly trafficLost: number;
  /** Milliseconds before the kill at which the oldest lost traffic had been taken, where the server stood. */
  readonly oldestLost: number;
}

export interface KillOptions {
  readonly where: string;
  readonly rounds: number;
  readonly random: Random;
  /** Ends the database's server too, in every so manieth round, and starts it again. */
  readonly crash?: { readonly every: number; run(): Promise<void> };
  readonly onRound?: (round: number) => void;
}

/** Signals that are under way at a time. */
const window = 64;
const writerFile = fileURLToPath(new URL("writer.ts", import.meta.url));

export async function killRounds({
  where,
  rounds,
  random,
  crash,
  onRound,
}: KillOptions): Promise<KillRounds> {
  const acknowledged = new Set<string>();
  /** Sent and not acknowledged, with the round that they were first sent in. */
  const open = new Map<string, number>();
  let [signals, sentAgain, knownByKey, lost, doubled, taken, trafficLost, oldestLost] = [
    0, 0, 0, 0, 0, 0, 0, 0,
  ];

  for (let round = 0; round < rounds; round++) {
    const draw = random.split("round", round);
    const child = spawn(process.execPath, [writerFile, where], { stdio: ["pipe", "pipe", "ignore"] });
    const closed = once(child, "close");
    child.stdin.on("error", () => {}); // it is going to be killed in the middle of a line
    const ask = (asked: Asked): void => void child.stdin.write(`${JSON.stringify(asked)}\n`);
    const traffic = new Map<string, number>();
    let under = 0;
    let number = 0;
    const fill = (): void => {
      for (; under < window; under++) {
        const key = `${round}/${number++}`;
        open.set(key, round);
        signals++;
        ask({ signal: key, round });
        if (number % 4 === 0) ask({ response: `r${key}`, round });
      }
    };
    const first = new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        const said = JSON.parse(line) as Said;
        if ("ready" in said) {
          // as a client does that has heard nothing
          for (const [key, since] of open) ask({ signal: key, round: since });
          sentAgain += open.size;
          under = open.size;
          fill();
        } else if ("response" in said) {
          traffic.set(said.response, said.at);
        } else if ("refused" in said) {
          setTimeout(() => ask({ signal: said.refused, round: open.get(said.refused) ?? round }), 5);
        } else {
          acknowledged.add(said.signal);
          open.delete(said.signal);
          knownByKey += Number(said.duplicate);
          under--;
          fill();
          resolve();
        }
      });
    });
    await Promise.race([first, closed]);
    await pause(150 * draw.next());
    const crashed = crash !== undefined && (round + 1) % crash.every === 0;
    if (crashed) await crash.run();
    if (child.exitCode !== null) throw new Error(`the writer ended by itself in round ${round}`);
    child.kill("SIGKILL");
    const killed = Date.now();
    await closed; // and all that it had said is read

    const keys = await keysSince(where, round);
    for (const [key, count] of keys) if (count > 1 && acknowledged.has(key)) doubled++;
    for (const key of acknowledged) if (key.startsWith(`${round}/`) && !keys.has(key)) lost++;
    const kept = await responsesOf(where, round);
    for (const [id, at] of traffic) {
      taken++;
      if (kept.has(id)) continue;
      trafficLost++;
      if (!crashed) oldestLost = Math.max(oldestLost, killed - at);
    }
    onRound?.(round + 1);
  }
  const all = await keysSince(where, 0);
  for (const key of acknowledged) {
    if (!all.has(key)) lost++;
    if ((all.get(key) ?? 0) > 1) doubled++;
  }
  return {
    rounds,
    signals,
    acknowledged: acknowledged.size,
    sentAgain,
    knownByKey,
    lost,
    doubled,
    taken,
    trafficLost,
    oldestLost,
  };
}

/** How often each key is there, of signals first sent in this round or later. */
async function keysSince(where: string, round: number): Promise<Map<string, number>> {
  const store = await openTrafficStore(where);
  const keys = new Map<string, number>();
  for await (const { key = "none" } of store.signals({ from: round }))
    keys.set(key, (keys.get(key) ?? 0) + 1);
  await store.close();
  return keys;
}

async function responsesOf(where: string, round: number): Promise<Set<string>> {
  const store = await openTrafficStore(where);
  const ids = new Set<string>();
  for await (const { id } of store.responses({ from: round, until: round + 1 })) ids.add(id);
  await store.close();
  return ids;
}
