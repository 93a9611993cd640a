/** Pages of a list whose place stands in the address. */
import type { InAddress } from "./inAddress.ts";

interface PagerProps {
  /** What they are, as in "1 to 20 of 300 tasks". */
  readonly what: string;
  readonly offset: number;
  readonly shown: number;
  readonly total: number;
  readonly perPage: number;
  readonly address: InAddress;
}

export function Pager({ what, offset, shown, total, perPage, address: { choose } }: PagerProps) {
  const last = offset + shown;
  const to = (place: number): void => choose({ offset: place === 0 ? undefined : String(place) });
  return (
    <p class="tools">
      <button type="button" disabled={offset === 0} onClick={() => to(Math.max(0, offset - perPage))}>
        Before
      </button>
      <span role="status">
        {offset + 1} to {last} of {total.toLocaleString("en-GB")} {what}
      </span>
      <button type="button" disabled={last >= total} onClick={() => to(last)}>
        Next
      </button>
    </p>
  );
}
