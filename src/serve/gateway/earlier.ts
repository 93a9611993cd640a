/** Earlier responses and items of them, which requests name by their ids. */

import { messageOf } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Log } from "../../core/log.ts";
import type { ServedResponse } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import type { TrafficStore } from "../../store/trafficStore.ts";

/** Most responses and items in memory, the latest ones, and milliseconds they are kept; the time limit also removes what was erased. */
const most = { responses: 1000, items: 10_000, milliseconds: 3_600_000 } as const;

export interface Earlier {
  remember(response: ServedResponse): void;
  /** A response, from memory or from the store; nothing if neither has it. */
  find(id: Id): Promise<ServedResponse | undefined>;
  /** Keeps an item of an answer. */
  note(owner: Owner, id: string, item: Json): void;
  /** An item of an answer to that user; with a session, only of an answer in it. */
  item(
    owner: { readonly user?: Id | undefined; readonly session: Id | undefined },
    id: string,
  ): Json | undefined;
}

/** Whom an answer is for, and its session. */
export interface Owner {
  readonly user: Id | undefined;
  readonly session: Id;
}

export function earlierResponses(production: Pick<TrafficStore, "responses">, log: Log): Earlier {
  const responses = latest<ServedResponse>(most.responses);
  const items = latest<{ readonly item: Json; readonly session: Id }>(most.items);
  return {
    remember: (response) => responses.keep(response.id, response),
    async find(id) {
      const known = responses.get(id);
      if (known) return known;
      try {
        for await (const stored of production.responses({ id })) return stored;
      } catch (e) {
        log(`response ${id} could not be read: ${messageOf(e)}`, { level: "error", response: id });
      }
      return undefined;
    },
    note: ({ user, session }, id, item) => items.keep(scoped(user, id), { item, session }),
    item({ user, session }, id) {
      const kept = items.get(scoped(user, id));
      return session === undefined || kept?.session === session ? kept?.item : undefined;
    },
  };
}

const scoped = (user: Id | undefined, id: string): string => `${user ?? ""}\n${id}`;

interface Latest<T> {
  keep(key: string, value: T): void;
  get(key: string): T | undefined;
}

function latest<T>(limit: number): Latest<T> {
  /** Oldest first. */
  const table = new Map<string, { readonly value: T; readonly at: number }>();
  const forgetOld = (): void => {
    for (const [key, { at }] of table) {
      if (table.size <= limit && performance.now() - at < most.milliseconds) return;
      table.delete(key);
    }
  };
  return {
    keep(key, value) {
      table.delete(key);
      table.set(key, { value, at: performance.now() });
      forgetOld();
    },
    get(key) {
      forgetOld();
      return table.get(key)?.value;
    },
  };
}
