/** The method catalogue for the dashboard's pages. */
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { type CatalogueEntry, commandFor, needsOf, slotsOf } from "../../method/entry.ts";
import { type Recipe, slotNames } from "../../method/method.ts";
import { rangeOf } from "../../method/options.ts";
import { searchCatalogue } from "../../method/search.ts";
import { settingRows } from "../../method/settings.ts";
import { readEvidence } from "../../methods/evidence.ts";
import { caveatsOf, opponentsOf } from "../../methods/opponents.ts";
import type { Gated } from "../auth.ts";
import { takes } from "../query.ts";
import type { MethodDetail, MethodRow, MethodsPage } from "./types.ts";

/** Loaded when somebody looks: a server starts twice as fast without it. */
const all = () => import("../../methods/catalogue.ts");

/** Routes below `/api/methods`. */
export function methodRoutes(): Hono<Gated> {
  const routes = new Hono<Gated>();
  routes.get("/", takes("query"), async (c) => {
    const { catalogue } = await all();
    const query = c.req.query("query")?.trim() ?? "";
    const methods =
      query === ""
        ? catalogue.map(rowOf)
        : searchCatalogue(query, catalogue).map(({ entry, why }) => ({ ...rowOf(entry), why }));
    const families = [...new Set(catalogue.map((m) => m.family))];
    return c.json({ methods, families, total: catalogue.length } satisfies MethodsPage);
  });
  routes.get("/:id", async (c) => {
    const entry = (await all()).catalogue.find((m) => m.id === c.req.param("id"));
    if (entry) return c.json(detailOf(entry) satisfies MethodDetail);
    throw new HTTPException(404, { message: `There is no method ${c.req.param("id")} in the catalogue.` });
  });
  return routes;
}

function rowOf(m: CatalogueEntry): MethodRow {
  const { id, kind, family, summary, paper } = m;
  const evidence = readEvidence(id);
  return {
    id,
    kind,
    family,
    summary,
    differs: slotsOf(m),
    ...(paper !== undefined && { paper }),
    ...(evidence && { verdict: evidence.verdict, effect: evidence.effect }),
  };
}

function detailOf(m: CatalogueEntry): MethodDetail {
  const { mechanism, equation, source } = m;
  const evidence = readEvidence(m.id);
  const changed = Object.entries(m.kind === "method" ? m.defaults : {}).filter(
    ([name, value]) => settingRows[name as keyof typeof settingRows].default !== value,
  );
  return {
    ...rowOf(m),
    ...(mechanism !== undefined && { mechanism }),
    ...(equation !== undefined && { equation }),
    ...(source !== undefined && { source }),
    ...(m.kind !== "method" && { law: m.law }),
    ...(evidence && { evidence, opponents: opponentsOf(evidence), caveats: caveatsOf(evidence) }),
    needs: needsOf(m),
    slots: m.kind === "method" ? compositionOf(m) : [],
    settings: Object.fromEntries(changed),
    options: Object.entries(m.kind === "method" ? m.options : {}).map(([name, option]) => ({
      name,
      default: option.default,
      range: rangeOf(option),
      help: option.help,
    })),
    command: `npx whetstone ${commandFor(m)}`,
  };
}

function compositionOf(m: Recipe): MethodDetail["slots"] {
  const { slots } = m.build();
  return slotNames.map((slot) => {
    const chosen: unknown = slots[slot];
    const pieces = (Array.isArray(chosen) ? chosen : [chosen]).flatMap((piece: unknown) =>
      typeof piece === "object" && piece !== null && "name" in piece ? [String(piece.name)] : [],
    );
    return { slot, pieces, differs: m.differs.includes(slot) };
  });
}
