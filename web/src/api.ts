/** Asks the server, and tells a page what came of it: data that arrives, data that goes on arriving, or why not. */
import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { loginPath } from "./parts/back.ts";

export type Loaded<T> =
  | { readonly state: "waiting" }
  | { readonly state: "ready"; readonly data: T }
  | { readonly state: "failed"; readonly why: string };

/** Whether this page is on its way to the login page: a second refusal would break the way there off and begin it anew. */
let leaving = false;

/** Nothing that is asked for here is answered any more: the page stays as it is until the next one stands. */
function leave(): Promise<never> {
  if (!leaving) location.replace(loginPath(location));
  leaving = true;
  return new Promise(() => {});
}

/**
 * Whoever has to log in first is led there, and back.
 * @throws Error with the server's own words.
 */
export async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await fetch(path, { ...init, headers: { accept: "application/json", ...init?.headers } });
  if (response.ok) return (await response.json()) as T;
  if (response.status === 401 && location.pathname !== "/login") return leave();
  const said = (await response.json().catch(() => undefined)) as { error?: { message?: string } } | undefined;
  throw new Error(said?.error?.message ?? `The server answered ${response.status}.`);
}

/** What a path gives, asked for anew when the path changes. */
export function useLoaded<T>(path: string): Signal<Loaded<T>> {
  const loaded = useMemo(() => signal<Loaded<T>>({ state: "waiting" }), []);
  useEffect(() => {
    const control = new AbortController();
    ask<T>(path, { signal: control.signal }).then(
      (data) => {
        loaded.value = { state: "ready", data };
      },
      (e: unknown) => {
        if (!control.signal.aborted) loaded.value = { state: "failed", why: messageOf(e) };
      },
    );
    return () => control.abort();
  }, [path, loaded]);
  return loaded;
}

/**
 * Calls back with each event of that name until the page is left; the browser connects again by itself. While nobody can see
 * the page nothing is asked for: servers say how things stand when they are asked anew.
 */
export function useEvents<T>(path: string, event: string, messages: (data: T) => void): void {
  useEffect(() => {
    let source: EventSource | undefined;
    const listen = (): EventSource => {
      const opened = new EventSource(path);
      opened.addEventListener(event, (e) => messages(JSON.parse((e as MessageEvent<string>).data) as T));
      opened.addEventListener("error", () => {
        // refused for good: what a plain question is told tells why, and leads to the login page
        if (opened.readyState === EventSource.CLOSED) ask("/api/session").catch(() => {});
      });
      return opened;
    };
    const look = (): void => {
      if (!document.hidden) source ??= listen();
      else {
        source?.close();
        source = undefined;
      }
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      source?.close();
    };
  }, [path, event, messages]);
}

export const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
