/** Entangled instructions by level and category, with separate rows for memory and privacy. */

import { mapById } from "../common/mapById.ts";
import { present } from "../core/errors.ts";
import { entangledInstructions } from "../env/entangled/entangled.ts";
import { type ConversationScores, conversationScores } from "../env/entangled/scores.ts";
import { type EvaluationSuite, meanRow, playParts, type SuiteRow, shareRow } from "./suite.ts";

export const multiturninstruct: EvaluationSuite = {
  name: "multiturninstruct",
  summary: "instructions over many turns that hold on, overlap and contradict each other",
  measures:
    "A conversation counts as kept where every instruction was followed at every turn at which it was active: level 1 asks to retrieve what was given, level 2 to keep track and to act on several instructions at once, level 3 to resolve conflicts. Memory is the BLEU-2 of a line asked back word for word, privacy one less the share of unauthorised questions whose answer held the secret. The integration gap, memory less success at level 2, is what is remembered and yet not acted upon.",
  paper: "Can Language Models Follow Multiple Turns of Entangled Instructions?",
  async run(options) {
    const environment = entangledInstructions();
    const { played, failed } = await playParts([{ environment, split: "test" }], options);
    const tasks = mapById(environment.tasks("test"));
    const scores = (played[0] ?? []).map((t) =>
      conversationScores(
        present(tasks.get(t.task), "multiturninstruct", `task ${t.task}`),
        t.turns.map((turn) => turn.action.content),
      ),
    );
    return { rows: entangledRows(scores), failed };
  },
};

/** The report's rows. */
export function entangledRows(scores: readonly ConversationScores[]): readonly SuiteRow[] {
  const kept = (section: string, name: string, of: readonly ConversationScores[]): SuiteRow =>
    shareRow(
      section,
      name,
      of.map((s) => s.kept),
    );
  const byLevel = [1, 2, 3].map((level) => scores.filter((s) => s.level === level));
  const byCategory = [...Map.groupBy(scores, (s) => s.category)];
  const gaps = byLevel[1]!.map((s) => s.memory - Number(s.kept));
  const asked = scores.flatMap((s) => Array.from({ length: s.unauthorised }, (_, i) => i >= s.leaked));
  return [
    kept("Conversations kept", "all", scores),
    ...byLevel.map((some, i) => kept("Conversations kept", `level ${i + 1}`, some)),
    ...byCategory.map(([category, some]) => kept("Conversations kept, by category", category, some)),
    meanRow(
      "Memory and privacy",
      "memory (BLEU-2)",
      scores.map((s) => s.memory),
    ),
    shareRow("Memory and privacy", "privacy", asked),
    meanRow("Memory and privacy", "integration gap", gaps),
  ];
}
