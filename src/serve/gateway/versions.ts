/** The versions that currently answer: those of the store's last split, updated without a restart. */

import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { TrafficSplit, Version } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import { assign, unitOf } from "../../release/split.ts";
import type { TrafficStore } from "../../store/trafficStore.ts";
import type { Answerer } from "./answerer.ts";
import type { Member } from "./firstOf.ts";
import type { Foundations } from "./open.ts";

/** The version that answers a call, and how it was chosen. */
export interface ChosenVersion {
  readonly version: Id;
  readonly answerer: Answerer;
  readonly propensity: number;
  readonly split?: Id;
}

/** Settings of {@link liveVersions}. */
export interface VersionOptions {
  readonly production: Pick<TrafficStore, "versions" | "splits">;
  /** Opens the backend of a version. If it throws, the new split does not take effect. */
  readonly open: (version: Version, foundations: Foundations) => Promise<Answerer>;
  /** The version that answers while there is no split. Default: the only version. */
  readonly main?: Id;
  /** Milliseconds between reads of the store. Default 1000. */
  readonly every?: number;
  readonly log?: Log;
}

/** The open versions of the current split. */
export interface LiveVersions {
  choose(call: { readonly session: Id; readonly response: Id; readonly user?: Id }): ChosenVersion;
  /** All backends that may answer. */
  answerers(): readonly Answerer[];
  readonly state: { readonly split?: Id; readonly versions: readonly Id[]; readonly failing?: string };
  /** Reads the store now. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

interface Current {
  readonly split: TrafficSplit | undefined;
  readonly answerers: ReadonlyMap<Id, Answerer>;
}

/**
 * A split takes effect once all of its versions are open; until then, or if one cannot be opened, the previous split stays.
 * Versions that are no longer in the split are closed when their last call has ended.
 * @throws WhetstoneError `config.invalid` if no version can answer.
 */
export async function liveVersions(options: VersionOptions): Promise<LiveVersions> {
  const { production, open, main, every = 1000, log = () => {} } = options;
  const opened = new Map<Id, Promise<Answerer>>();
  let failing: string | undefined;
  let current: Current = { split: undefined, answerers: new Map() };
  let looking: Promise<void> | undefined;

  /** @param used collects the version and the versions that it depends on. */
  async function answererOf(id: Id, versions: readonly Version[], used: Set<Id>): Promise<Answerer> {
    const version = versions.find((v) => v.id === id);
    if (!version) throw noVersion(id);
    const { backend } = version;
    used.add(version.id);
    const on = async (id: Id | undefined): Promise<Answerer | undefined> =>
      id === undefined ? undefined : await answererOf(id, versions, used);
    const [over, guide] =
      backend.kind === "artefact" ? [await on(backend.over), await on(backend.guide)] : [];
    const members: Member[] = [];
    for (const member of backend.kind === "firstOf" ? backend.versions : [])
      members.push({ version: member, answerer: await answererOf(member, versions, used) });
    const making =
      opened.get(version.id) ??
      open(version, {
        ...(over && { over }),
        ...(guide && { guide }),
        ...(members.length > 0 && { members }),
      });
    opened.set(version.id, making);
    try {
      return await making;
    } catch (e) {
      opened.delete(version.id);
      throw e;
    }
  }

  async function look(): Promise<void> {
    const split = (await production.splits()).at(-1);
    const unchanged = current.answerers.size > 0 && split?.id === current.split?.id;
    if (unchanged) return;
    const versions = await production.versions();
    if (!split && main === undefined && versions.length !== 1) throw noChoice(versions);
    const wanted = split ? Object.keys(split.shares) : [main ?? versions[0]?.id];
    const answerers = new Map<Id, Answerer>();
    const used = new Set<Id>();
    for (const id of wanted) {
      if (id === undefined) throw noVersion(id);
      answerers.set(id, await answererOf(id, versions, used));
    }
    const before = current.split;
    current = { split, answerers };
    if (split && before?.id !== split.id)
      log(`split ${split.id}: ${sharesOf(split)} (${split.why})`, { split: split.id });
    for (const [id, making] of opened) {
      if (used.has(id)) continue;
      opened.delete(id);
      void making
        .then((answerer) => answerer.close())
        .catch((e) => log(`closing ${id}: ${messageOf(e)}`, { level: "warning", version: id }));
    }
  }

  function refresh(): Promise<void> {
    looking ??= look()
      .then(
        () => {
          failing = undefined;
        },
        (e: unknown) => {
          // nothing stays as it is where nothing was: whoever asked says why
          if (current.answerers.size === 0) throw e;
          const why = messageOf(e);
          if (why !== failing) log(`the versions stay as they are: ${why}`, { level: "error" });
          failing = why;
        },
      )
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  await refresh();
  const timer = setInterval(() => void refresh().catch(() => undefined), every);
  timer.unref();

  return {
    choose(call) {
      const { split, answerers } = current;
      const [only] = answerers.keys();
      const drawn = split ? assign(split, unitOf(split, call)) : { version: only ?? "", propensity: 1 };
      const answerer = answerers.get(drawn.version);
      if (!answerer) throw noVersion(drawn.version);
      return { ...drawn, answerer, ...(split ? { split: split.id } : {}) };
    },
    answerers: () => [...current.answerers.values()],
    get state() {
      return {
        ...(current.split ? { split: current.split.id } : {}),
        versions: [...current.answerers.keys()],
        ...(failing === undefined ? {} : { failing }),
      };
    },
    refresh,
    async close() {
      clearInterval(timer);
      await looking?.catch(() => undefined);
      await Promise.allSettled([...opened.values()].map(async (answerer) => (await answerer).close()));
    },
  };
}

const sharesOf = ({ shares }: TrafficSplit): string =>
  Object.entries(shares)
    .map(([id, share]) => `${id} ${Number((100 * share).toFixed(2))} %`)
    .join(", ");

const noChoice = (versions: readonly Version[]): WhetstoneError =>
  new WhetstoneError("config.invalid", {
    where: "gateway",
    got: versions.length === 0 ? "no version that could answer" : `${versions.length} versions and no split`,
    expected: "one version or a split",
    fix: "Name an --upstream or a --policy, or split the calls with: whetstone versions split",
  });
const noVersion = (id: Id | undefined): WhetstoneError =>
  new WhetstoneError("config.invalid", {
    where: "gateway",
    got:
      id === undefined
        ? "no version that could answer"
        : `the version "${id}", which the store does not have`,
    expected: "a version for every name in the split",
    fix: "Add it with: whetstone versions add",
  });
