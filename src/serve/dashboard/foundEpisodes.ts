/** Episodes that were searched for: what they were about, and where those of one task part. */
import type { Message } from "../../core/types.ts";
import type { FoundTrajectory } from "../../store/runStore.ts";
import { episodeRow } from "./episodes.ts";
import type { EpisodeGroup, FoundEpisode } from "./types.ts";

/** Most characters of a text that a list shows. */
const most = 240;

/** The beginning of a text, with each run of blanks as one. */
function beginning(text: string): string {
  // what is cut off is not looked at: a message may hold megabytes
  const words = text
    .slice(0, 4 * most)
    .replaceAll(/\s+/g, " ")
    .trim();
  return words.length <= most && text.length <= 4 * most ? words : `${words.slice(0, most).toWellFormed()}…`;
}

/** An action in words: its text, then its calls. */
const wordsOf = ({ content, toolCalls = [] }: Message): string =>
  [content, ...toolCalls.map(({ name, arguments: given }) => `${name}(${given})`)].filter(Boolean).join(" ");

/** @param turn whose action is shown. Default: the last one. */
export function foundEpisode(t: FoundTrajectory, turn = t.words.actions.length - 1): FoundEpisode {
  const action = t.words.actions[turn];
  return {
    ...episodeRow(t),
    asked: beginning(t.words.asked),
    did: action ? beginning(wordsOf(action)) : "",
  };
}

/** @param siblings at least one; of one task, iteration, phase and role. */
export function episodeGroup(siblings: readonly FoundTrajectory[]): EpisodeGroup {
  const { task, role, iteration, phase, words } = siblings[0]!;
  const parts = partingOf(siblings);
  return {
    task,
    role,
    iteration,
    phase,
    asked: beginning(words.asked),
    ...(parts !== undefined && { parts }),
    episodes: siblings.map((one) => foundEpisode(one, parts)),
  };
}

/** The first turn in which one did what another did not, or had already ended. */
function partingOf(siblings: readonly FoundTrajectory[]): number | undefined {
  const said = siblings.map(({ words }) => words.actions.map(wordsOf));
  const longest = Math.max(...said.map(({ length }) => length));
  for (let turn = 0; turn < longest; turn++) {
    if (said.some((one) => one[turn] !== said[0]![turn])) return turn;
  }
  return undefined;
}
