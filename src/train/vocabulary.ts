/** Which words a run's models can read and write. */
import type { Method } from "../core/slots.ts";
import type { Environment } from "../env/environment.ts";

/** The environment's texts; and where the method says something to the policy, those texts and the environment's critiques. */
export function vocabularyOf(
  environment: Environment,
  method: Pick<Method, "says" | "students">,
): readonly string[] {
  const said = [method, ...Object.values(method.students ?? {})].map((one) => one.says);
  const says = said.every((texts) => texts === undefined) ? undefined : said.flatMap((texts) => texts ?? []);
  const own = environment.vocabulary?.() ?? [];
  return says ? [...own, ...(environment.critiqueVocabulary?.() ?? []), ...says] : own;
}
