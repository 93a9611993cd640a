/** A long episode at one look: a cell for each turn, coloured by what it earned, each a way to its turn. */
import type { EpisodeTurn } from "../../../src/serve/dashboard/types.ts";
import { signed, toneOf } from "./reward.tsx";

/** Episodes of fewer turns are seen whole. */
const least = 6;

export function Filmstrip({ turns }: { readonly turns: readonly EpisodeTurn[] }) {
  if (turns.length < least) return null;
  return (
    <nav class="filmstrip" aria-label="Turns">
      {turns.map((turn, k) => {
        const earned = Object.values(turn.rewards).reduce((sum, reward) => sum + reward, 0);
        return (
          <a
            key={k}
            href={`#turn-${k}`}
            class={`frame ${toneOf(earned)}`}
            title={`Turn ${k + 1}, earned ${signed(earned)}: ${turn.action.content.slice(0, 120)}`}
            onClick={(e) => {
              // the address keeps the token that was chosen
              e.preventDefault();
              document.getElementById(`turn-${k}`)?.scrollIntoView({ block: "start" });
            }}
          >
            {k + 1}
          </a>
        );
      })}
    </nav>
  );
}
