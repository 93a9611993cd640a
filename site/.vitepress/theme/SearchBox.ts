/** The theme's search of words in the pages and, above its results, the methods that answer what is asked. */
import WordSearch from "vitepress/dist/client/theme-default/components/VPLocalSearchBox.vue";
import { defineComponent, h, onMounted, ref, Teleport } from "vue";
import { answer, useCatalogue } from "./catalogue.ts";

export default defineComponent({
  name: "SearchBox",
  emits: ["close"],
  setup(_, { emit }) {
    const { question, found, ask } = useCatalogue(3);
    const open = ref(false);
    onMounted(() => {
      open.value = true;
      // the theme keeps the last question, and shares nothing but the field
      const field = document.querySelector<HTMLInputElement>("#localsearch-input");
      if (field?.value) void ask(field.value);
      field?.addEventListener("input", () => void ask(field.value));
    });
    return () => [
      h(WordSearch, { onClose: () => emit("close") }),
      open.value && question.value.trim() !== "" && found.value.length > 0
        ? h(Teleport, { to: ".VPLocalSearchBox .shell" }, [
            h("section", { class: "methods-found", "aria-label": "Methods", onClick: () => emit("close") }, [
              h("ul", found.value.map(answer)),
            ]),
          ])
        : null,
    ];
  },
});
