import { createHash } from "node:crypto";
import { keyOf, onlyOffers } from "../../common/text/toolCalls.ts";
import type { ServedResponse } from "../../core/served.ts";
import type { Id, Message } from "../../core/types.ts";
import type { Draft } from "./entry.ts";

/** The data that determines a response's position, and no more: a file may have more responses than fit into memory. */
interface Stone {
  readonly id: Id;
  readonly session: Id;
  readonly at: number;
  /** Digest of the conversation up to the last reply in its prompt; absent without one. */
  readonly before: string | undefined;
  /** Digests of the conversation after each of its replies. */
  readonly after: readonly string[];
}

/** Determines the positions of responses that are added in any order. */
export interface Places {
  add(draft: Draft): void;
  /** Positions by response. A prompt extends a trajectory if it continues from a reply that no other prompt continues from. */
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
