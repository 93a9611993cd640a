/** A text of any length: its beginning, and more of it whenever somebody asks. A line of a megabyte is laid out for seconds. */
import { useState } from "preact/hooks";

/** Characters that are at most added at once. */
const step = 100_000;

/** @param first characters that are shown at first: fewer where many texts stand below each other. */
export function Long({ text, first = 20_000 }: { readonly text: string; readonly first?: number }) {
  const [shown, setShown] = useState(first);
  const rest = text.length - shown;
  if (rest <= 0) return <>{text}</>;
  return (
    <>
      {whole(text, shown)}
      <button type="button" class="more" onClick={() => setShown(shown + step)}>
        … show {count(Math.min(step, rest))} more of {count(rest)} characters
      </button>
    </>
  );
}

/** So many characters from the start, none cut in two. */
function whole(text: string, until: number): string {
  const last = text.charCodeAt(until - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? until - 1 : until);
}

const count = (n: number): string => n.toLocaleString("en-GB");
