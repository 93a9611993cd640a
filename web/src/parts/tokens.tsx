/** The tokens of one action, painted with one of their numbers. Long actions are painted where they are looked at. */
import type { VNode } from "preact";
import { memo } from "preact/compat";
import { useRef } from "preact/hooks";
import type { TokenLayers, Value } from "../../../src/serve/dashboard/types.ts";
import { useNear } from "./near.ts";

export type Layer = "advantage" | "logp" | "entropy" | "plain";

/** Tokens that are put on the page at once. */
const piece = 250;
/** Shades on each side of none. */
const shades = 6;

interface TokensProps {
  readonly turn: number;
  readonly tokens: TokenLayers;
  readonly pieces: readonly string[];
  readonly layer: Layer;
  /** Largest size of the layer's numbers in the episode. */
  readonly scale: number;
  readonly chosen?: number | undefined;
}

export function Tokens({ turn, tokens, pieces, layer, scale, chosen }: TokensProps) {
  const parts: VNode[] = [];
  for (let from = 0; from < pieces.length; from += piece) {
    const until = Math.min(pieces.length, from + piece);
    const inside = chosen !== undefined && chosen >= from && chosen < until ? chosen : undefined;
    parts.push(
      <Part
        key={from}
        turn={turn}
        from={from}
        until={until}
        {...{ tokens, pieces, layer, scale }}
        chosen={inside}
      />,
    );
  }
  return <div class="tokens">{parts}</div>;
}

interface PartProps extends TokensProps {
  readonly from: number;
  readonly until: number;
}

const Part = memo(({ turn, from, until, tokens, pieces, layer, scale, chosen }: PartProps) => {
  const place = useRef<HTMLSpanElement>(null);
  const near = useNear(place, from === 0);
  // as one text until somebody comes near: 20,000 elements would make every change slow
  if (!near && chosen === undefined) return <span ref={place}>{pieces.slice(from, until).join("")}</span>;
  const values = layer === "plain" ? undefined : tokens[layer];
  return (
    <span ref={place}>
      {pieces.slice(from, until).map((text, k) => {
        const at = from + k;
        const shade = values ? shadeOf(values[at] ?? null, layer, scale) : "";
        const forced = tokens.forced?.[at] ? " forced" : "";
        return (
          <span
            key={at}
            id={`t${turn}.${at}`}
            data-token={at}
            class={`token${shade}${forced}${at === chosen ? " chosen" : ""}`}
          >
            {text}
          </span>
        );
      })}
    </span>
  );
});

/** Signed numbers get a colour for each sign; sizes alone get one. */
function shadeOf(value: Value, layer: Layer, scale: number): string {
  if (value === null || scale === 0) return "";
  const strength = Math.min(shades, Math.round((Math.abs(value) / scale) * shades));
  if (strength === 0) return "";
  return layer === "advantage" ? ` ${value > 0 ? "up" : "down"}${strength}` : ` much${strength}`;
}

/** Words of a word-level tokenizer come bare, others bring their blanks. */
export function spaced(pieces: readonly string[]): readonly string[] {
  const bare = !pieces.some((text) => /^\s|\s$/.test(text));
  return bare ? pieces.map((text, i) => (i === 0 ? text : ` ${text}`)) : pieces;
}
