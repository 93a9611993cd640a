/** Opens the backend of a version: its upstream, its run, or an object in this process. */
import { hash } from "node:crypto";
import type { ArtefactVersion } from "../../core/artefact.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Version } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import type { Answerer } from "./answerer.ts";
import { firstOf, type Member } from "./firstOf.ts";
import { upstreamBase } from "./target.ts";
import { upstream } from "./upstream.ts";
import { withArtefact } from "./withArtefact.ts";

type Backend = Version["backend"];
type Backing<Kind> = Extract<Backend, { readonly kind: Kind }>;

/** How versions of each kind are opened. */
export interface Openers {
  /** Environment variables that hold upstream keys. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Base URL of the upstream that receives the clients' own keys. Default: none. Every other upstream has its own key or needs none. */
  readonly clientKeysFor?: string;
  /** @param name in the list of models. */
  readonly run?: (folder: string, name: string) => Promise<Answerer>;
  readonly local?: Readonly<Record<string, Answerer>>;
  /** Artefacts of the store. */
  readonly artefact?: (id: Id) => Promise<ArtefactVersion | undefined>;
}

/** Backends that a version of an artefact needs; their owner opens and closes them. */
export interface Foundations {
  readonly over?: Answerer;
  readonly guide?: Answerer;
  /** Those of an order. */
  readonly members?: readonly Member[];
}

/** @throws WhetstoneError `config.invalid` if the version cannot be opened. */
export async function openVersion(
  { id, name, backend }: Version,
  openers: Openers,
  { over, guide, members = [] }: Foundations = {},
): Promise<Answerer> {
  switch (backend.kind) {
    case "upstream":
      return openUpstream(id, backend, openers);
    case "run":
      if (openers.run) return await openers.run(backend.folder, name);
      throw cannot(id, "a run's weights", "Serve it with: whetstone serve");
    case "local": {
      const held = openers.local?.[backend.name];
      if (held) return held;
      throw cannot(
        id,
        `"${backend.name}", held by another process`,
        "Serve it from the process that made it.",
      );
    }
    case "firstOf":
      if (members.length > 0) return firstOf(members);
      throw cannot(
        id,
        "an order without versions",
        "Name two or more with: whetstone versions add --first-of",
      );
    case "artefact": {
      const read = openers.artefact;
      const first = await read?.(backend.artefact);
      if (!read || !first)
        throw cannot(
          id,
          `the artefact ${backend.artefact}`,
          "Add it to this store with: whetstone artefacts import",
        );
      if (!over) throw cannot(id, `the version ${backend.over}`, "Add that version first.");
      if (first.artefact.kind === "guide" && !guide)
        throw cannot(
          id,
          "a guide without a version that writes its hints",
          "Name that version with: whetstone versions add --guide",
        );
      const artefact = kept(first.artefact, async () => (await read(backend.artefact))?.artefact);
      return withArtefact({ artefact, over, ...(guide ? { guide } : {}) });
    }
  }
}

/** Milliseconds after which a cached value is read again. */
const fresh = 2000;

/** Caches a value and reads it again periodically, since parts of it may be erased while it is served; keeps the old value if that fails. */
function kept<T>(first: T, read: () => Promise<T | undefined>): () => Promise<T> {
  let last = first;
  let at = performance.now();
  return async () => {
    if (performance.now() - at < fresh) return last;
    at = performance.now();
    last = (await read().catch(() => undefined)) ?? last;
    return last;
  };
}

function openUpstream(
  id: string,
  { url, model, keyEnv, exact, timeout, retries }: Backing<"upstream">,
  { environment, clientKeysFor }: Openers,
): Answerer {
  const key = keyEnv === undefined ? undefined : environment[keyEnv];
  if (keyEnv !== undefined && (key === undefined || key === "")) {
    throw new WhetstoneError("config.invalid", {
      where: `version ${id}`,
      got: `no environment variable ${keyEnv}`,
      expected: "the upstream's key in it",
      fix: `Set ${keyEnv}, or name another variable with --upstream-key-env.`,
    });
  }
  return upstream({
    url,
    clientKeys: clientKeysFor !== undefined && upstreamBase(clientKeysFor) === upstreamBase(url),
    ...(model === undefined ? {} : { model }),
    ...(key === undefined ? {} : { key }),
    ...(exact === undefined ? {} : { exact }),
    ...(timeout === undefined ? {} : { patience: timeout }),
    ...(retries === undefined ? {} : { retries }),
  });
}

/**
 * Makes a version of a backend, named after it. Its id is a hash of the backend, so equal backends are one version.
 * @param state further input of the id, such as when the weights were written. @param called replaces the default name. @throws WhetstoneError `config.invalid`.
 */
export function versionOf(stated: Backend, created: number, state = "", called?: string): Version {
  const backend = stated.kind === "upstream" ? { ...stated, url: upstreamBase(stated.url) } : stated;
  const name = called ?? nameOf(backend);
  const digest = hash("sha256", JSON.stringify([Object.entries(backend).sort(), state])).slice(0, 8);
  // the name may be long; splits and database keys limit the id's length
  const readable = name.replaceAll(/[^A-Za-z0-9.-]+/g, "-").slice(0, mostReadable);
  return { id: `${readable}-${digest}`, name, backend, created };
}

/**
 * The version that answers with the first of these that does, named after them.
 * @throws WhetstoneError `option.range` for fewer than two, one twice, or an order within an order.
 */
export function orderOf(members: readonly Version[], now: number): Version {
  const ids = members.map(({ id }) => id);
  const nested = members.find(({ backend }) => backend.kind === "firstOf");
  if (ids.length < 2 || new Set(ids).size < ids.length || nested) {
    throw new WhetstoneError("option.range", {
      where: "first of",
      got: nested ? `${nested.id}, which is an order itself` : ids.join(", ") || "nothing",
      expected: "two or more different versions that are no orders",
      fix: "Name each version once, in the order in which they are to be asked.",
    });
  }
  const called = members.map(({ name }) => name).join(" then ");
  return versionOf({ kind: "firstOf", versions: ids }, now, "", called);
}

/** Most characters of a version's name in its id. */
const mostReadable = 100;

function nameOf(backend: Backend): string {
  switch (backend.kind) {
    case "upstream":
      return backend.model ?? new URL(backend.url).host;
    case "run":
      return backend.folder.split(/[\\/]/).filter(Boolean).slice(-2).join("/") || "run";
    case "local":
      return backend.name;
    case "firstOf":
      return backend.versions.join("-then-");
    case "artefact":
      return `${backend.over}+${backend.artefact.slice(0, 8)}`;
  }
}

const cannot = (id: string, got: string, fix: string): WhetstoneError =>
  new WhetstoneError("config.invalid", {
    where: `version ${id}`,
    got,
    expected: "something that this process can open",
    fix,
  });
