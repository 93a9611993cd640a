/** Searches the catalogue by name, paper, mechanism, mathematics and slots. Uses no network and no model. */
import MiniSearch from "minisearch";
import { mapById } from "../common/mapById.ts";
import { type CatalogueEntry, slotsOf } from "./entry.ts";

/** Groups of synonyms: everyday words and the words of papers. */
const kin: readonly (readonly string[])[] = [
  ["exploration", "entropy", "diversity", "novelty", "collapse"],
  ["credit", "attribution", "turn", "step", "process"],
  ["critic", "value", "baseline"],
  ["thumbs", "reaction", "user", "satisfaction"],
  ["preference", "pairwise", "comparison", "ranking", "dpo"],
  ["imitation", "demonstration", "supervised", "sft", "expert"],
  ["curriculum", "difficulty", "schedule", "easy", "hard"],
  ["judge", "reward model", "verifier", "critique", "rubric"],
  ["search", "retrieval", "query", "look-up"],
  ["tool", "function", "call", "api"],
  ["variance", "noise", "leave-one-out"],
  ["clip", "trust region", "ratio", "off-policy"],
  ["length", "verbose", "short", "long"],
  ["hierarchy", "subgoal", "option", "plan"],
  ["game", "opponent", "self-play", "nash"],
  ["memory", "experience", "replay"],
];

function widened(query: string): string[] {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}*-]+/u)
    .filter((w) => w !== "");
  const near = kin.filter((family) =>
    family.some((word) => words.some((w) => word === w || `${word}s` === w)),
  );
  return [...new Set([...words, ...near.flat()])];
}

/** @returns the matching entries, best first; empty when none matches. */
export function searchCatalogue(query: string, among: readonly CatalogueEntry[]): readonly CatalogueEntry[] {
  const index = new MiniSearch<{ readonly id: string }>({
    fields: ["id", "family", "summary", "paper", "mechanism", "equation", "slots"],
    searchOptions: {
      boost: { id: 6, summary: 3, paper: 3, slots: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    },
  });
  index.addAll(among.map((m) => ({ ...m, slots: slotsOf(m).join(" ") })));
  const own = new Set(query.toLowerCase().split(/[^\p{L}\p{N}*-]+/u));
  const found = index.search(widened(query).join(" "), {
    // the query's own words count more than their synonyms
    boostTerm: (term) => (own.has(term) ? 1 : 0.25),
  });
  const byId = mapById(among);
  return found.flatMap(({ id }) => byId.get(String(id)) ?? []);
}
