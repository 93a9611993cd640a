import { createHash } from "node:crypto";
import { keyOf, onlyOffers } from "../../common/text/toolCalls.ts";
import type { ServedResponse } from "../../core/served.ts";
import type { Id, Message } from "../../core/types.ts";
import type { Draft } from "./entry.ts";

/** What of a response says where it stands, and no more: a file has more responses than fit into memory. */
interface Stone {
  readonly id: Id;
  readonly session: Id;
  readonly at: number;
  /** Of the conversation up to the last reply in its prompt; absent where there is none. */
  readonly before: string | undefined;
  /** Of the conversation after each of its replies. */
  readonly after: readonly string[];
}

/** Where responses stand that become known in any order. */
export interface Places {
  add(draft: Draft): void;
  /** By response. A trajectory goes on where a prompt goes on from a reply that nothing else went on from. */
  settle(): ReadonlyMap<Id, Pick<ServedResponse, "trajectory" | "turn">>;
}

export function places(): Places {
  const stones = new Map<Id, Stone>();
  return {
    add: ({ id, session, at, prompt, choices }) => {
      const said = prompt.filter((message) => !onlyOffers(message));
      const last = said.findLastIndex(({ role }) => role === "assistant");
      stones.set(id, {
        id,
        session,
        at,
        before: last < 0 ? undefined : digest(said.slice(0, last + 1)),
        after: choices.map(({ message }) => digest([...said, message])),
      });
    },
    settle() {
      const found = new Map<Id, { readonly trajectory: Id; readonly turn: number }>();
      const open = new Map<
        string,
        { readonly trajectory: Id; readonly turn: number; readonly closes: string[] }
      >();
      const trajectories = new Map<Id, number>();
      for (const { id, session, before, after } of [...stones.values()].sort((a, b) => a.at - b.at)) {
        const goesOn = before === undefined ? undefined : open.get(`${session}\n${before}`);
        const n = trajectories.get(session) ?? 0;
        if (!goesOn) trajectories.set(session, n + 1);
        for (const key of goesOn?.closes ?? []) open.delete(key);
        const place = goesOn
          ? { trajectory: goesOn.trajectory, turn: goesOn.turn + 1 }
          : { trajectory: `${session}/${n}`, turn: 0 };
        found.set(id, place);
        const closes = after.map((end) => `${session}\n${end}`);
        for (const key of closes) open.set(key, { ...place, closes });
      }
      return found;
    },
  };
}

function digest(messages: readonly Message[]): string {
  const hash = createHash("sha1");
  for (const { tools: _, ...message } of messages) hash.update(`${keyOf(message)}\n`);
  return hash.digest("base64");
}
