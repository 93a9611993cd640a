/** What a record of somebody else's becomes. */
import type { Json } from "../../core/json.ts";
import type { ReceivedSignal, ServedResponse } from "../../core/served.ts";
import type { FileRecord } from "./records.ts";

/** A response without what only the whole file tells: its place. */
export type Draft = Pick<
  ServedResponse,
  | "id"
  | "session"
  | "user"
  | "at"
  | "ms"
  | "model"
  | "settings"
  | "prompt"
  | "choices"
  | "usage"
  | "tags"
  | "status"
  | "error"
>;

export type Entry =
  | { readonly kind: "response"; readonly draft: Draft }
  | { readonly kind: "signal"; readonly signal: Omit<ReceivedSignal, "received" | "key"> }
  /** Nothing for us, and why; counted by it. */
  | { readonly kind: "ignored"; readonly why: string };

/** One format. Made anew for each file. */
export interface Importer {
  /** Sees every record before the first is read: what records say of one another. */
  survey?(value: Json): void;
  /** @throws WhetstoneError `import.invalid` for a record that is of this format, and broken. */
  entries(record: FileRecord): readonly Entry[];
}

/** @param file as errors name it. */
export type MakeImporter = (file: string) => Importer;

export const ignored = (why: string): readonly Entry[] => [{ kind: "ignored", why }];

/** Feedback of others on a stated place, without what is absent. */
export function feedback(
  of: Pick<ReceivedSignal, "id" | "kind" | "channel" | "about" | "source" | "at"> & {
    readonly value?: number | undefined;
    readonly text?: string | undefined;
    readonly best?: number | undefined;
    readonly user?: string | undefined;
    readonly tags?: Readonly<Record<string, string>>;
  },
): Entry {
  const { value, text, best, user, tags = {}, ...rest } = of;
  return {
    kind: "signal",
    signal: {
      ...rest,
      ...(value === undefined ? {} : { value }),
      ...(text === undefined ? {} : { text }),
      ...(best === undefined ? {} : { best }),
      ...(user === undefined ? {} : { user }),
      tags,
    },
  };
}
