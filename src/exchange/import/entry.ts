/** The result of converting a record of another tool. */
import type { Json } from "../../core/json.ts";
import type { ReceivedSignal, ServedResponse } from "../../core/served.ts";
import type { FileRecord } from "./records.ts";

/** A response without its trajectory and turn, which depend on the whole file. */
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
  /** A skipped record; the reasons are counted. */
  | { readonly kind: "ignored"; readonly why: string };

/** One format. A new instance for each file. */
export interface Importer {
  /** Called with every record before the first `read`, to collect cross-references. */
  survey?(value: Json): void;
  /** @throws WhetstoneError `import.invalid` for a broken record of this format. */
  entries(record: FileRecord): readonly Entry[];
}

/** @param file its name in errors. */
export type MakeImporter = (file: string) => Importer;

export const ignored = (why: string): readonly Entry[] => [{ kind: "ignored", why }];

/** A signal of another tool on a known target, without absent fields. */
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
