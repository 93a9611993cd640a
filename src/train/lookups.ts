/** How pieces find tasks, models and helpers by name. */
import type { Helper } from "../core/context.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Frozen, Model } from "../core/model.ts";
import type { Id, ModelId, Task } from "../core/types.ts";
import type { ContextParts } from "./contextParts.ts";

function missing(
  where: string,
  name: string,
  known: string,
  fix = "Declare it in the method's `models` or `frozen`.",
): WhetstoneError {
  return new WhetstoneError("capability.missing", {
    where,
    got: `the unknown name "${name}"`,
    expected: known === "" ? "no name, since the method declares none" : `one of ${known}`,
    fix,
  });
}

const beside = (what: string): WhetstoneError =>
  new WhetstoneError("capability.missing", {
    where: "a rollout with --staleness",
    got: `a request for ${what}, which training changes at the same time`,
    expected: "rollouts that use only the method's models",
    fix: "Leave --staleness out.",
  });

/** Models, tasks and helpers that a slot piece looks up by name. */
export interface Lookups {
  task(id: Id): Task;
  model(id?: ModelId): Model;
  frozen(name: string): Frozen;
  helper<In, Label, Out>(name: string): Helper<In, Label, Out>;
}

/** @param made tasks of this iteration that are none of the run's. */
export function lookupsOf(parts: ContextParts, made: ReadonlyMap<Id, Task>): Lookups {
  const { models, frozen, helpers, alone = false } = parts;
  return {
    task(id) {
      const task = made.get(id) ?? parts.tasks.get(id);
      if (task) return task;
      const known = `the run's ${parts.tasks.size} tasks`;
      throw missing("task", id, known, "Pass a new task to play as an object, not by its id.");
    },
    model(id = "policy") {
      const found = models.get(id);
      if (found) return found;
      throw missing("model", id, [...models.keys()].join(", "));
    },
    frozen(name) {
      const found = frozen.get(name);
      if (found && !alone) return found;
      if (found) throw beside(`the frozen model "${name}"`);
      throw missing("frozen model", name, [...frozen.keys()].join(", "));
    },
    helper: <In, Label, Out>(name: string): Helper<In, Label, Out> => {
      const found = helpers.get(name);
      if (found && alone) throw beside(`the helper "${name}"`);
      // the pieces of a method agree on a helper's types
      if (found) return found as unknown as Helper<In, Label, Out>;
      const known = [...helpers.keys()].join(", ");
      throw missing("helper", name, known, "Declare it in the method's `helpers`.");
    },
  };
}
