/** A piece of feedback in words. */
import type { ReceivedSignal } from "../../../src/core/served.ts";
import { Long } from "./long.tsx";
import { Thumb } from "./thumb.tsx";
import { digits, moment } from "./words.ts";

const thumbs: Readonly<Record<string, string>> = { thumbs_up: "Thumbs up", thumbs_down: "Thumbs down" };

export function SignalLine({ signal }: { readonly signal: ReceivedSignal }) {
  const { kind, channel, text, value, source, user, at } = signal;
  return (
    <>
      {kind === "reaction" && text !== undefined && text in thumbs && (
        <>
          <Thumb up={text === "thumbs_up"} />{" "}
        </>
      )}
      <b>
        <bdi>{said(signal)}</bdi>
      </b>
      {text !== undefined && kind !== "reaction" && (
        <>
          {": "}
          <bdi class="quoted">
            <Long text={text} first={2000} />
          </bdi>
        </>
      )}{" "}
      <span class="faint">
        {value !== undefined && kind !== "reaction" && `${digits(value)} · `}
        {channel} · by <bdi>{user ?? source}</bdi> · {moment(new Date(at).toISOString())}
      </span>
    </>
  );
}

function said({ kind, text, best }: ReceivedSignal): string {
  switch (kind) {
    case "reaction":
      return text === undefined ? "Reaction" : (thumbs[text] ?? text);
    case "score":
      return "Rating";
    case "critique":
      return "Comment";
    case "correction":
      return "Correction";
    case "demonstration":
      return "Demonstration";
    case "reward":
      return "Outcome";
    case "preference":
      return `Preferred the ${ordinal(best ?? 0)}`;
  }
}

const ordinal = (index: number): string => ["first", "second", "third"][index] ?? `${index + 1}th`;
