/** Which words a run's models can read and write. */
import type { Method } from "../core/slots.ts";
import type { Environment } from "../env/environment.ts";

/** The environment's texts; and where the method says something to the policy, those texts and the environment's critiques. */
export function vocabularyOf(environment: Environment, { says }: Pick<Method, "says">): readonly string[] {
  const own = environment.vocabulary?.() ?? [];
  return says ? [...own, ...(environment.critiqueVocabulary?.() ?? []), ...says] : own;
}
