/** A list of any length: its beginning, and more of it whenever somebody asks. Thousands of messages are laid out for a minute. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface ManyProps<T> {
  readonly items: readonly T[];
  /** What they are, as in "show 20 more of 300 messages". */
  readonly what: string;
  /** Items that are shown at first. */
  readonly first: number;
  /** Whether they stand in a list, where a button is an entry too. */
  readonly listed?: boolean;
  readonly children: (item: T, index: number) => ComponentChildren;
}

export function Many<T>({ items, what, first, listed = false, children }: ManyProps<T>) {
  const [more, setMore] = useState(0);
  const shown = first + more;
  const rest = items.length - shown;
  const button = rest > 0 && (
    <button type="button" class="more" onClick={() => setMore(more + step)}>
      … show {Math.min(step, rest)} more of {rest.toLocaleString("en-GB")} {what}
    </button>
  );
  return (
    <>
      {items.slice(0, shown).map(children)}
      {button && (listed ? <li>{button}</li> : button)}
    </>
  );
}

/** Items that are added at once. */
const step = 100;
