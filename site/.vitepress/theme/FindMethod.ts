/** Finds methods by what the reader has. */
import { defineComponent, h, onMounted } from "vue";
import { answer, useCatalogue } from "./catalogue.ts";

/** What a reader may have, as the site's start says it. */
const examples = [
  "my users give thumbs",
  "no GPU, only an API",
  "sparse reward, long horizon",
  "model games the judge",
] as const;

export const FindMethod = defineComponent({
  name: "FindMethod",
  setup() {
    const { question, found, failed, ask } = useCatalogue(6);
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
          : h("ol", { class: "found" }, found.value.map(answer)),
        h("p", { role: "status" }, status()),
      ]);
  },
});
