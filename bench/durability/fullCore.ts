/**
 * A gateway whose one core is full, killed with SIGKILL at random moments: how long before it the oldest answer was given of
 * which there is no record. Whoever answers goes before whoever writes there; what is at risk must stay bounded all the same.
 */
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { request } from "undici";
import { singleCoreFlags } from "../../src/cli/threadPriority.ts";
import type { Random } from "../../src/core/random.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { call, target } from "../gateway/load.ts";
import { started } from "../gateway/started.ts";

export interface FullCore {
  readonly rounds: number;
  readonly answered: number;
  /** Answers a second while the gateway was asked as much as it could. */
  readonly perSecond: number;
  /** Answered, and not recorded. */
  readonly lost: number;
  /** Milliseconds before each kill at which the oldest of these was answered, by the client's clock; 0 where none was lost. */
  readonly oldest: readonly number[];
}

export interface FullCoreOptions {
  readonly where: string;
  readonly rounds: number;
  readonly random: Random;
  /** Something else wants all of the core as well. */
  readonly neighbour: boolean;
  /** Calls under way at a time: more than a core can answer. */
  readonly parallel?: number;
  readonly onRound?: (round: number) => void;
}

/** Milliseconds of load before a kill: at least, so that what runs often is compiled, and at most beyond that. */
const [least, more] = [3000, 1000];

export async function fullCore(options: FullCoreOptions): Promise<FullCore> {
  const { where, rounds, random, neighbour, parallel = 48, onRound } = options;
  const upstream = await started("upstream", [], { flags: singleCoreFlags, core: 1 });
  const oldest: number[] = [];
  let [answered, lost, seconds] = [0, 0, 0];
  try {
    for (let round = 0; round < rounds; round++) {
      const began = Date.now();
      const gateway = await started("served", [upstream.url, where], { flags: singleCoreFlags, core: 0 });
      const burning = neighbour ? burner() : undefined;
      const to = target(gateway.url);
      /** When each answer was there. */
      const there = new Map<string, number>();
      let killed = false;
      const since = performance.now();
      let n = 0;
      const one = async (): Promise<void> => {
        while (!killed) {
          const id = await answerOf(to, n++).catch(() => undefined);
          if (id !== undefined && !killed) there.set(id, performance.now());
        }
      };
      const all = Promise.all(Array.from({ length: parallel }, one));
      await pause(least + more * random.split("round", round).next());
      killed = true;
      const at = performance.now();
      await gateway.kill();
      burning?.kill("SIGKILL");
      await to.agent.destroy();
      await all;

      const kept = await recorded(where, began);
      const missing = [...there].filter(([id]) => !kept.has(id)).map(([, when]) => at - when);
      oldest.push(Math.max(0, ...missing));
      answered += there.size;
      lost += missing.length;
      seconds += (at - since) / 1000;
      onRound?.(round + 1);
    }
  } finally {
    await upstream.stop();
  }
  return { rounds, answered, perSecond: answered / seconds, lost, oldest };
}

/** @returns the id of the answer, once its last byte is there. */
async function answerOf({ url, agent }: ReturnType<typeof target>, n: number): Promise<string | undefined> {
  const { body, session } = call(n, false, 500);
  const answer = await request(`${url}/v1/chat/completions`, {
    dispatcher: agent,
    method: "POST",
    headers: { "content-type": "application/json", "x-whetstone-session": session },
    body,
  });
  await answer.body.dump({ limit: 1e9 });
  const id = answer.headers["x-whetstone-response"];
  return answer.statusCode === 200 && typeof id === "string" ? id : undefined;
}

/** Ids of the responses since then. */
async function recorded(where: string, from: number): Promise<Set<string>> {
  const store = await openTrafficStore(where);
  const ids = new Set<string>();
  for await (const { id } of store.responses({ from })) ids.add(id);
  await store.close();
  return ids;
}

/** A process that never rests, on the gateway's core. */
const burner = () => spawn("taskset", ["-c", "0", process.execPath, "-e", "for (;;);"], { stdio: "ignore" });
