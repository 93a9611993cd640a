/** Unlearning: forget along a direction from which the part that hurts what is kept has been removed. */

import { rebased, selectRows } from "../../src/common/tokens/pack.ts";
import { present } from "../../src/core/errors.ts";
import type { Objective } from "../../src/core/objective.ts";
import type { Update } from "../../src/core/slots.ts";

export const blur =
  (forget: Objective, retain: Objective): Update =>
  async (ctx, batch) => {
    const model = ctx.model();
    const gradients = present(model.gradients, "blur", "named gradients");
    const rows = (group: string): number[] =>
      batch.rows.flatMap((row, r) => (row.group === group ? [r] : []));
    const bad = rebased(selectRows(batch, rows("forget")));
    const good = rebased(selectRows(batch, rows("retain")));
    await model.accumulate(bad, forget, await forget.prepare(ctx, bad), "forget");
    await model.accumulate(good, retain, await retain.prepare(ctx, good), "retain");
    const along = (await gradients.dot("retain", "forget")) / (await gradients.dot("forget", "forget"));
    await gradients.combine({ retain: 1, forget: 1 - along });
    return model.step({ learningRate: 1e-5 });
  };
