/** Proposes a candidate with one text rewritten, from attempts under it and their feedback. */

import { joinedOrigins, writtenBy } from "../../../common/artefacts/origins.ts";
import type { InstructionSet } from "../../../core/artefact.ts";
import type { Ctx } from "../../../core/context.ts";
import { componentsOf, lengthOf, textIn, withText } from "./components.ts";
import type { SearchSettings } from "./options.ts";
import { chatReflector, quoting, type Told } from "./reflector.ts";

export interface Proposal {
  readonly set: InstructionSet;
  readonly why: string;
}

/**
 * @param turn which of its texts to rewrite, in rotation.
 * @returns undefined if the reflector proposes no new text, or the texts would be too long.
 */
export async function proposalOf(
  ctx: Ctx,
  set: InstructionSet,
  turn: number,
  attempts: readonly Told[],
  settings: SearchSettings,
): Promise<Proposal | undefined> {
  const { characters, hints, hintsEach } = settings;
  const component = componentsOf(set)[turn % componentsOf(set).length]!;
  const own = textIn(set, component);
  const from = (ctx.clock.iteration * hintsEach) % Math.max(1, hints.length);
  const read = hints.slice(from, from + hintsEach);
  const { chat } = ctx.model();
  const reflect = settings.reflect ?? (chat ? chatReflector(chat) : quoting());
  const text = await reflect({
    component,
    text: own,
    attempts,
    hints: read,
    characters: characters - lengthOf(set) + own.length,
    random: ctx.random.split("reflect"),
  });
  if (text === undefined || text === own) return undefined;
  const origins = joinedOrigins("reflection", [
    set.origins,
    ...read.map((hint) => hint.origins),
    { ...writtenBy("reflection"), trajectories: attempts.map(({ trajectory }) => trajectory) },
  ]);
  const child = withText(set, component, text, origins);
  if (lengthOf(child) > characters) return undefined;
  const heard = read.length > 0 ? ` and ${read.length} hints` : "";
  return { set: child, why: `${component} rewritten from ${attempts.length} attempts${heard}` };
}
