/** A question in the reader's own words, answered from the catalogue: the same search as `whetstone methods`, in the page. */
import { withBase } from "vitepress";
import { defineComponent, h, onMounted, ref } from "vue";
import type { Found } from "../../../src/method/search.ts";

/** What a reader may have, as the site's start says it. */
const examples = [
  "my users give thumbs",
  "no GPU, only an API",
  "sparse reward, long horizon",
  "model games the judge",
] as const;
const shown = 6;

/** Read once a question is asked, so that pages stay small. */
async function catalogueSearch(): Promise<(question: string) => readonly Found[]> {
  const [{ searchCatalogue }, entries] = await Promise.all([
    import("../../../src/method/search.ts"),
    fetch(withBase("/catalogue.json")).then((answer) => answer.json()),
  ]);
  return (question) => searchCatalogue(question, entries);
}

export const FindMethod = defineComponent({
  name: "FindMethod",
  setup() {
    const question = ref("");
    const found = ref<readonly Found[]>([]);
    const failed = ref(false);
    let search: Promise<(question: string) => readonly Found[]> | undefined;

    async function ask(asked: string): Promise<void> {
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
    }
    onMounted(() => {
      const asked = new URLSearchParams(location.search).get("q");
      if (asked) void ask(asked);
    });

    const status = (): string => {
      if (failed.value) return "The catalogue could not be loaded. Check the connection, and ask again.";
      if (question.value.trim() !== "" && found.value.length === 0) return "No method fits.";
      return "";
    };
    return () =>
      h("form", { class: "find", role: "search", onSubmit: (e: Event) => e.preventDefault() }, [
        h("label", [
          "What do you have? ",
          h("input", {
            type: "search",
            placeholder: "my users give thumbs",
            value: question.value,
            onInput: (e: Event) => void ask((e.target as HTMLInputElement).value),
          }),
        ]),
        question.value.trim() === ""
          ? h("p", { class: "examples" }, [
              "For example: ",
              ...examples.map((one) => h("button", { type: "button", onClick: () => void ask(one) }, one)),
            ])
          : h("ol", { class: "found" }, [
              ...found.value.map(({ entry, why }) =>
                h("li", { key: entry.id }, [
                  h("a", { href: withBase(`/methods/${entry.id}.html`) }, entry.id),
                  h("span", { class: "family" }, ` ${entry.family}`),
                  h("div", entry.summary),
                  h("div", { class: "why" }, `It ${why}.`),
                ]),
              ),
            ]),
        h("p", { role: "status" }, status()),
      ]);
  },
});
