/** Episodes side by side: what the agent saw, and its words painted with their advantages. */
import { Tokens } from "../../../web/src/parts/tokens.tsx";
import { digits } from "../../../web/src/parts/words.ts";
import type { Played } from "./played.ts";

export function Episodes({ episodes }: { readonly episodes: readonly Played[] }) {
  const sizes = episodes.flatMap(({ turns }) => turns.flatMap(({ advantages }) => advantages.map(Math.abs)));
  const scale = Math.max(0, ...sizes);
  return (
    <div class="episodes">
      {episodes.map((episode) => (
        <Episode key={episode.task} episode={episode} scale={scale} />
      ))}
    </div>
  );
}

function Episode({ episode, scale }: { readonly episode: Played; readonly scale: number }) {
  const { task, success, reward, turns } = episode;
  return (
    <section>
      <h2>{task.slice(task.indexOf("/") + 1)}</h2>
      <p class={success ? "good" : "bad"}>
        {success ? "served" : "the guest left"}, paid {digits(reward)}
      </p>
      <ol>
        {turns.map(({ seen, pieces, advantages }, turn) => (
          <li key={turn}>
            <span class="faint">{seen}</span>
            <Tokens
              turn={turn}
              tokens={{ ids: [], logp: [], advantage: advantages }}
              pieces={pieces}
              layer="advantage"
              scale={scale}
            />
            <span class="faint credit">{digits(advantages.reduce((a, b) => a + b, 0))}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
