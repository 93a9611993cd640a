/** What stands where data would: still waiting, nothing there, or what went wrong. */
import type { ComponentChildren } from "preact";

export function Waiting({ what }: { readonly what: string }) {
  return (
    <p class="notice" role="status">
      Loading {what}…
    </p>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="notice">{children}</div>;
}

export function Failed({ what, why }: { readonly what: string; readonly why: string }) {
  return (
    <div class="notice failed" role="alert">
      <strong>{what} could not be loaded.</strong> {why}
    </div>
  );
}

export function Missing() {
  return (
    <Empty>
      <h1>There is no such page</h1>
      <p>
        <a href="/">All runs</a>
      </p>
    </Empty>
  );
}
