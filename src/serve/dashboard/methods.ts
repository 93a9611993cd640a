/** The method catalogue for the dashboard's pages. */
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Recipe } from "../../method/method.ts";
import { slotNames } from "../../method/method.ts";
import { searchMethods } from "../../method/search.ts";
import { settingRows } from "../../method/settings.ts";
import { methods } from "../../methods/catalogue.ts";
import { readEvidence } from "../../methods/evidence.ts";
import type { Gated } from "../auth.ts";
import { takes } from "../query.ts";
import type { MethodDetail, MethodRow, MethodsPage } from "./types.ts";

/** Routes below `/api/methods`. */
export function methodRoutes(): Hono<Gated> {
  const routes = new Hono<Gated>();
  routes.get("/", takes("query"), (c) => {
    const query = c.req.query("query")?.trim() ?? "";
    const found = query === "" ? methods : searchMethods(query, methods);
    const families = [...new Set(methods.map((m) => m.family))];
    return c.json({ methods: found.map(rowOf), families, total: methods.length } satisfies MethodsPage);
  });
  routes.get("/:id", (c) => {
    const recipe = methods.find((m) => m.id === c.req.param("id"));
    if (recipe) return c.json(detailOf(recipe) satisfies MethodDetail);
    throw new HTTPException(404, { message: `There is no method ${c.req.param("id")} in the catalogue.` });
  });
  return routes;
}

function rowOf(m: Recipe): MethodRow {
  const { id, kind, family, summary, paper, differs } = m;
  const evidence = readEvidence(id);
  return {
    id,
    kind,
    family,
    summary,
    differs,
    ...(paper !== undefined && { paper }),
    ...(evidence && { verdict: evidence.verdict, effect: evidence.effect }),
  };
}

function detailOf(m: Recipe): MethodDetail {
  const { mechanism, equation, source, law, needs } = m;
  const evidence = readEvidence(m.id);
  const changed = Object.entries(m.defaults).filter(
    ([name, value]) => settingRows[name as keyof typeof settingRows].fallback !== value,
  );
  return {
    ...rowOf(m),
    ...(mechanism !== undefined && { mechanism }),
    ...(equation !== undefined && { equation }),
    ...(source !== undefined && { source }),
    ...(law !== undefined && { law }),
    ...(evidence && { evidence }),
    needs,
    slots: m.kind === "diagnostic" ? [] : slotsOf(m),
    settings: Object.fromEntries(changed),
    command:
      m.kind === "diagnostic"
        ? `npx whetstone check ${m.id}`
        : `npx whetstone train --env facts --method ${m.id} --out runs/${m.id}`,
  };
}

function slotsOf(m: Recipe): MethodDetail["slots"] {
  const { slots } = m.build();
  return slotNames.map((slot) => {
    const chosen: unknown = slots[slot];
    const pieces = (Array.isArray(chosen) ? chosen : [chosen]).flatMap((piece: unknown) =>
      typeof piece === "object" && piece !== null && "name" in piece ? [String(piece.name)] : [],
    );
    return { slot, pieces, differs: m.differs.includes(slot) };
  });
}
