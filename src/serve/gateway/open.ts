/** What answers for a version: its upstream, its run, or what this process holds under its name. */
import { hash } from "node:crypto";
import type { ArtefactVersion } from "../../core/artefact.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type { Version } from "../../core/served.ts";
import type { Id } from "../../core/types.ts";
import type { Answerer } from "./answerer.ts";
import { upstreamBase } from "./target.ts";
import { told } from "./told.ts";
import { upstream } from "./upstream.ts";

type Backend = Version["backend"];
type Backing<Kind> = Extract<Backend, { readonly kind: Kind }>;

/** How versions of each kind are opened. */
export interface Openers {
  /** Where keys of upstreams stand. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Base URL of the upstream that clients' own keys are meant for. Default: none; every other one has a key of its own, or needs none. */
  readonly clientKeysFor?: string;
  /** @param name what it is listed as. */
  readonly run?: (folder: string, name: string) => Promise<Answerer>;
  readonly local?: Readonly<Record<string, Answerer>>;
  /** Artefacts of the store. */
  readonly artefact?: (id: Id) => Promise<ArtefactVersion | undefined>;
}

/** What a version of an artefact stands on, which is opened and closed by itself. */
export interface Foundations {
  readonly over?: Answerer;
  readonly guide?: Answerer;
}

/** @throws WhetstoneError `config.invalid` where it cannot be opened. */
export async function openVersion(
  { id, name, backend }: Version,
  openers: Openers,
  { over, guide }: Foundations = {},
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
          "a guide that nobody writes hints for",
          "Name who does with: whetstone versions add --guide",
        );
      const artefact = kept(first.artefact, async () => (await read(backend.artefact))?.artefact);
      return told({ artefact, over, ...(guide ? { guide } : {}) });
    }
  }
}

/** Milliseconds after which a value is looked up again. */
const fresh = 2000;

/** A value that is looked up again every so often, since parts of it may be erased while it is served; the last one, where that fails. */
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
  { url, model, keyEnv, exact }: Backing<"upstream">,
  { environment, clientKeysFor }: Openers,
): Answerer {
  const key = keyEnv === undefined ? undefined : environment[keyEnv];
  if (keyEnv !== undefined && (key === undefined || key === "")) {
    throw new WhetstoneError("config.invalid", {
      where: `version ${id}`,
      got: `no environment variable ${keyEnv}`,
      expected: "the upstream's key in it",
      mend: `Set ${keyEnv}, or name another variable with --upstream-key-env.`,
    });
  }
  return upstream({
    url,
    clientKeys: clientKeysFor !== undefined && upstreamBase(clientKeysFor) === upstreamBase(url),
    ...(model === undefined ? {} : { model }),
    ...(key === undefined ? {} : { key }),
    ...(exact === undefined ? {} : { exact }),
  });
}

/**
 * A version of that backend, named after it. Equal backends are one version: its id is made of what it is.
 * @param state what else makes it another one, such as when its weights were written. @param called in place of its own name. @throws WhetstoneError `config.invalid`.
 */
export function versionOf(stated: Backend, created: number, state = "", called?: string): Version {
  const backend = stated.kind === "upstream" ? { ...stated, url: upstreamBase(stated.url) } : stated;
  const name = called ?? nameOf(backend);
  const digest = hash("sha256", JSON.stringify([Object.entries(backend).sort(), state])).slice(0, 8);
  // however long its name, its id is one that splits and keys of databases take
  const readable = name.replaceAll(/[^A-Za-z0-9.-]+/g, "-").slice(0, mostReadable);
  return { id: `${readable}-${digest}`, name, backend, created };
}

/** Characters of a version's name that stand in its id. */
const mostReadable = 100;

function nameOf(backend: Backend): string {
  switch (backend.kind) {
    case "upstream":
      return backend.model ?? new URL(backend.url).host;
    case "run":
      return backend.folder.split(/[\\/]/).filter(Boolean).slice(-2).join("/") || "run";
    case "local":
      return backend.name;
    case "artefact":
      return `${backend.over}+${backend.artefact.slice(0, 8)}`;
  }
}

const cannot = (id: string, got: string, mend: string): WhetstoneError =>
  new WhetstoneError("config.invalid", {
    where: `version ${id}`,
    got,
    expected: "something that this process can open",
    mend,
  });
