/** Mails to be signed, and a user's wish that applies to some of them; behaviour outside its scope should not change. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { demand, isWhole } from "../../../env/demand.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Settings of {@link wishes}. */
export interface WishesOptions {
  /** Number of training mails, a multiple of eight; as many others, of the same kinds and readers, are held out. Default 128. */
  readonly mails?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** Scope of a mail: the wish matches its kind and its reader, one of them, or neither. */
export type WishScope = "in" | "near" | "out";

const kinds = ["report", "question", "invitation", "thanks"];
const readers = ["boss", "client", "team", "friend"];

/** The possible signatures. */
export const signatures = [":)", "."] as const;

/** The user's wish. */
export const wish = `please no ${signatures[0]} in a ${kinds[0]} to the ${readers[0]}`;

export const scopeOf = (task: Task): WishScope => {
  const { scope } = task.metadata;
  return scope === "in" || scope === "near" ? scope : "out";
};

/** Of eight consecutive mails, two are in scope, three match half of it, and three nothing. */
const scopes: readonly WishScope[] = ["in", "near", "out", "near", "out", "in", "near", "out"];

/** All mails of a scope, by kind and reader. */
const about: Readonly<Record<WishScope, readonly (readonly [kind: string, reader: string])[]>> = {
  in: [[kinds[0]!, readers[0]!]],
  near: [
    ...kinds.slice(1).map((kind) => [kind, readers[0]!] as const),
    ...readers.slice(1).map((reader) => [kinds[0]!, reader] as const),
  ],
  out: kinds.slice(1).flatMap((kind) => readers.slice(1).map((reader) => [kind, reader] as const)),
};

/**
 * A mail is named by its kind and reader (`question to client`) and signed with `:)` or `.`. The user's wish is in the task's
 * metadata: `wish` in words, and `scope`, whether it applies to this mail. In scope, only `.` is rewarded; elsewhere both
 * signatures are. The rewards do not show whether behaviour outside the scope changed: compare with earlier signatures.
 */
export function wishes(options: WishesOptions = {}): Environment {
  const { mails = 128, seed = 1 } = options;
  demand(isWhole(mails, 8, 1e6) && mails % 8 === 0, "wishes: mails", mails, "a multiple of 8");
  const scopeAt = (n: number): WishScope => scopes[n % 8]!;
  const ask = (n: number): string => {
    const scope = scopeAt(n);
    const pairs = about[scope];
    const [kind, reader] = pairs[randomStream(seed).split("mail", n).below(pairs.length)]!;
    return `${kind} to ${reader}`;
  };
  const isRight = (task: Task, reply: string): boolean =>
    signatures.some((signature) => signature === reply) &&
    !(scopeOf(task) === "in" && reply === signatures[0]);
  return oneReply({
    name: "wishes",
    summary: "sign mails as ever, but for those that the user's wish speaks of",
    questions: mails,
    length: 1,
    words: [...signatures, wish],
    seed,
    ask,
    metadata: (n) => ({ scope: scopeAt(n), wish }),
    grade: (task, reply) => {
      const success = isRight(task, reply);
      return { rewards: { outcome: Number(success) }, success };
    },
    expert: () => signatures[1],
  });
}
