/** The store of the production loop, as commands name it. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Option } from "commander";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { TrafficStoreOptions } from "../store/openTrafficStore.ts";
import { personalData } from "../store/personalData.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { isPostgresUrl } from "../store/where.ts";

/** Where traffic, feedback, versions and keys are. A connection URL with a password is better said by the environment. */
export const trafficStoreOption = (): Option =>
  new Option("--store <where>", "traffic store: a SQLite file or a postgres:// URL")
    .env("WHETSTONE_STORE")
    .default("runs/whetstone.sqlite");

/**
 * Does something with a store, and closes it.
 * @param expect "there": commands that read need one that is there already.
 * @throws WhetstoneError `name.unknown` where none is; `store.failed`.
 */
export async function withTrafficStore<T>(
  where: string,
  work: (production: TrafficStore) => Promise<T>,
  expect: "there" | "any" = "any",
  options: TrafficStoreOptions = {},
): Promise<T> {
  if (!isPostgresUrl(where)) {
    if (expect === "there" && !existsSync(where)) {
      throw new WhetstoneError("name.unknown", {
        where: "store",
        got: `${where}, which is not there`,
        expected: "an existing traffic store",
        fix: "Name it with --store or WHETSTONE_STORE (train: --from-feedback); whetstone serve and whetstone import create one.",
      });
    }
    mkdirSync(dirname(where), { recursive: true });
  }
  // loaded when it is asked for: databases take their time
  const { openTrafficStore } = await import("../store/openTrafficStore.ts");
  const production = await openTrafficStore(where, options);
  try {
    return await work(production);
  } finally {
    await production.close();
  }
}

export const redactOption = (): Option =>
  new Option(
    "--redact <what>",
    "personal data to remove before anything is stored: all, or a list from secret,email,iban,card,ip,phone (default: none)",
  );

/** What is taken out of everything before it is stored. */
export function redacting(stated: string | undefined): TrafficStoreOptions {
  if (stated === undefined || stated === "none") return {};
  if (stated === "all") return { redaction: {} };
  const known = Object.values(personalData).map(({ name }) => name);
  const rules = stated.split(",").map((text) => {
    const name = text.trim();
    const rule = known.find((one) => one === name);
    if (rule === undefined) throw unknownName("--redact", name, ["all", "none", ...known]);
    return rule;
  });
  return { redaction: { rules } };
}
