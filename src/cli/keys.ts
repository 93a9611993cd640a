/** `whetstone keys`: who may ask the gateway and the inbox for what. */
import { type Command, Option } from "commander";
import { unknownName } from "../common/text/suggest.ts";
import type { Budget } from "../core/budget.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { AccessKey, Scope } from "../core/served.ts";
import { isLive, mintKey, type Only, scopes } from "../serve/keys.ts";
import { budgetIn } from "./budgetOption.ts";
import { seconds } from "./durations.ts";
import { addCommand, type Io, roomOf, table } from "./output.ts";
import { trafficStoreOption, withTrafficStore } from "./trafficStore.ts";

interface KeysOptions {
  readonly store: string;
}
interface CreateOptions extends KeysOptions {
  readonly scope: readonly Scope[];
  readonly expires?: string;
  readonly budget?: string;
  readonly session?: string;
  readonly response?: string;
  readonly user?: string;
}

export function addKeys(program: Command, io: Io): void {
  const keys = addCommand(program, "keys", "Create, list and revoke the keys of whetstone serve.", [
    "whetstone keys create app --scope chat --scope feedback",
    "whetstone keys create dashboard --scope read --expires 30d",
    "whetstone keys list",
    "whetstone keys revoke app",
  ]);
  addCommand(keys, "create", "Create a key. It is shown once; the store keeps only its digest.", [
    "whetstone keys create app --scope chat --scope feedback",
    "whetstone keys create ops --scope admin --expires 12h",
    "whetstone keys create intern --scope chat --budget 5/day",
    "whetstone keys create survey --scope feedback --session support-4711 --expires 30d",
  ])
    .argument("<label>", "label that identifies the key")
    .addOption(
      new Option(
        "--scope <scope...>",
        "permission of the key; may be repeated: chat completions (chat), sending feedback (feedback), sending spans (traces), reading what was recorded (read), changing versions, splits and keys (admin); none contains another",
      )
        .choices(scopes)
        .makeOptionMandatory(),
    )
    .option("--expires <duration>", "lifetime, such as 12h or 90d (default: unlimited)")
    .option(
      "--budget <usd/period>",
      "what calls with the key may cost, such as 5/day, 100/month or 20 in all; see whetstone prices (default: any amount)",
    )
    .option("--session <id>", "only for this session")
    .option("--response <id>", "only for this response")
    .option("--user <id>", "only for this user")
    .addOption(trafficStoreOption())
    .action(async (label: string, options: CreateOptions) => {
      const now = Date.now();
      const { expires } = options;
      const only = onlyOf(options);
      requireSpender(options);
      const { secret, key } = mintKey(
        {
          label,
          scopes: [...new Set(options.scope)],
          ...(only ? { only } : {}),
          ...(options.budget === undefined ? {} : { budget: budgetIn(options.budget) }),
          ...(expires === undefined ? {} : { expires: now + 1000 * seconds("--expires", expires) }),
        },
        now,
      );
      await withTrafficStore(options.store, async (production) => {
        const taken = (await production.keys()).find((k) => k.label === label && isLive(k, now));
        if (taken) throw labelTaken(label);
        await production.putKey(key);
      });
      io.record({ type: "key", ...seen(key), secret });
      if (!io.json) {
        io.say(
          secret,
          "",
          `Save it now: it is not shown again. Its scopes: ${key.scopes.join(", ")}${until(key)}${key.budget ? `; its budget: ${said(key.budget)}` : ""}. Running servers accept it within two seconds.`,
        );
      }
    });
  addCommand(keys, "list", "List the keys with their scopes and expiry dates.", ["whetstone keys list"])
    .addOption(trafficStoreOption())
    .action((options: KeysOptions) =>
      withTrafficStore(options.store, async (production) => {
        const found = await production.keys();
        for (const key of found) io.record({ type: "key", ...seen(key), state: stateOf(key) });
        if (found.length === 0) {
          return io.say(
            "No keys yet. Create one with: whetstone keys create app --scope chat --scope feedback",
          );
        }
        const rows = found.toSorted((a, b) => a.created - b.created).map(rowOf);
        io.say(
          ...table(["label", "id", "scopes", "only", "budget", "made (UTC)", "state"], rows, roomOf(io)),
        );
      }),
    );
  addCommand(keys, "revoke", "Revoke a key and all page tokens issued with it.", [
    "whetstone keys revoke app",
  ])
    .argument("<label-or-id>", "of the key")
    .addOption(trafficStoreOption())
    .action((name: string, options: KeysOptions) =>
      withTrafficStore(options.store, async (production) => {
        const found = await production.keys();
        const now = Date.now();
        const live = found.filter((key) => isLive(key, now));
        const key = live.find((k) => k.label === name) ?? found.find((k) => k.id === name);
        if (!key) {
          throw unknownName(
            "key",
            name,
            live.map((k) => k.label),
          );
        }
        const revoked: AccessKey = { ...key, revoked: key.revoked ?? now };
        await production.putKey(revoked);
        io.record({ type: "key", ...seen(revoked), state: "revoked" });
        io.say(`${key.label} (${key.id}) is revoked. Running servers reject it within two seconds.`);
      }),
    );
}

const rowOf = (key: AccessKey): readonly string[] => [
  key.label,
  key.id,
  key.scopes.join(" "),
  narrow(key.only),
  key.budget ? said(key.budget) : "",
  day(key.created),
  stateOf(key),
];

const said = ({ usd, per }: Budget): string => `$${usd}${per === "ever" ? " in all" : `/${per}`}`;

/** @throws WhetstoneError `option.range` for a budget of a key that can call no model. */
function requireSpender({ budget, scope }: CreateOptions): void {
  if (budget === undefined || scope.includes("chat")) return;
  throw new WhetstoneError("option.range", {
    where: "--budget",
    got: `"${budget}" for a key of scope ${scope.join(", ")}`,
    expected: "a key that can call models, since nothing else costs anything",
    fix: "Add --scope chat, or leave --budget out.",
  });
}

function onlyOf({ session, response, user }: CreateOptions): Only | undefined {
  if (session === undefined && response === undefined && user === undefined) return undefined;
  return {
    ...(session === undefined ? {} : { session }),
    ...(response === undefined ? {} : { response }),
    ...(user === undefined ? {} : { user }),
  };
}

const seen = ({ hash: _, ...key }: AccessKey) => key;
const narrow = (only: Only = {}): string =>
  Object.entries(only)
    .map(([what, id]) => `${what} ${id}`)
    .join(", ");
const day = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace("T", " ");
const until = ({ expires }: AccessKey): string =>
  expires === undefined ? "" : `, until ${day(expires)} UTC`;

function stateOf(key: AccessKey): string {
  if (key.revoked !== undefined) return `revoked ${day(key.revoked)}`;
  if (key.expires === undefined) return "live";
  return `${isLive(key, Date.now()) ? "live until" : "expired"} ${day(key.expires)}`;
}

const labelTaken = (label: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "keys create",
    got: `the label "${label}", which another active key has`,
    expected: "a label that no active key has",
    fix: "Choose another label, or revoke that key first.",
  });
