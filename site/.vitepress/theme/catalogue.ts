/** Questions in the reader's own words, answered from the catalogue by the same search as `whetstone methods`, in the page. */
import { withBase } from "vitepress";
import { h, type Ref, ref, type VNode } from "vue";
import type { Found } from "../../../src/method/search.ts";

type Search = (question: string) => readonly Found[];

/** Read once a question is asked, so that pages stay small. */
async function catalogueSearch(): Promise<Search> {
  const [{ searchCatalogue }, entries] = await Promise.all([
    import("../../../src/method/search.ts"),
    fetch(withBase("/catalogue.json")).then((answer) => answer.json()),
  ]);
  return (question) => searchCatalogue(question, entries);
}

/** A question, its first answers, and whether the catalogue could not be read. */
export interface Asked {
  readonly question: Ref<string>;
  readonly found: Ref<readonly Found[]>;
  readonly failed: Ref<boolean>;
  readonly ask: (question: string) => Promise<void>;
}

/** @param shown number of answers at most. */
export function useCatalogue(shown: number): Asked {
  const question = ref("");
  const found = ref<readonly Found[]>([]);
  const failed = ref(false);
  let search: Promise<Search> | undefined;
  return {
    question,
    found,
    failed,
    async ask(asked) {
      question.value = asked;
      try {
        search ??= catalogueSearch();
        const answers = (await search)(asked);
        failed.value = false;
        // a later question may have been answered meanwhile
        if (question.value === asked) found.value = answers.slice(0, shown);
      } catch {
        search = undefined;
        failed.value = true;
      }
    },
  };
}

/** An answer: the method, its family, what it does, and why it was found. */
export const answer = ({ entry, why }: Found): VNode =>
  h("li", { key: entry.id }, [
    h("a", { href: withBase(`/methods/${entry.id}.html`) }, entry.id),
    h("span", { class: "family" }, ` ${entry.family}`),
    h("div", entry.summary),
    h("div", { class: "why" }, `It ${why}.`),
  ]);
