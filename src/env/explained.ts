/** Adds a system message with rules to any environment, for language models that were not trained in it. */
import type { Environment } from "./environment.ts";

/** The same tasks, with a system message of these rules before each prompt. */
export function explained(environment: Environment, rules: string): Environment {
  const { vocabulary } = environment;
  return {
    ...environment,
    tasks: (split) =>
      environment
        .tasks(split)
        .map((task) => ({ ...task, prompt: [{ role: "system", content: rules }, ...task.prompt] })),
    ...(vocabulary && { vocabulary: () => [...vocabulary(), rules] }),
  };
}
