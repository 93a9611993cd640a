/** What a run printed, line by line at its own pace, many times as fast. Recorded by scripts/site/record.ts. */
import { defineComponent, h, nextTick, onUnmounted, ref } from "vue";
import recorded from "../../recorded.data.json" with { type: "json" };

/** Seconds since the start, and what was printed. */
const lines: readonly { readonly at: number; readonly text: string }[] = recorded.lines;
const seconds = lines.at(-1)?.at ?? 0;
/** Of the replay. */
const replaySeconds = 20;
const faster = Math.max(1, Math.round(seconds / replaySeconds));

export const RecordedRun = defineComponent({
  name: "RecordedRun",
  setup() {
    // a page without JavaScript, and a reader who does not press the button, see all of it
    const shown = ref(lines.length);
    const playing = ref(false);
    const screen = ref<HTMLElement>();
    let timer: ReturnType<typeof setTimeout> | undefined;

    async function next(): Promise<void> {
      shown.value++;
      await nextTick();
      screen.value?.scrollTo({ top: screen.value.scrollHeight });
      const [now, after] = [lines[shown.value - 1], lines[shown.value]];
      if (after === undefined || now === undefined) playing.value = false;
      else if (playing.value) timer = setTimeout(next, ((after.at - now.at) * 1000) / faster);
    }
    function press(): void {
      clearTimeout(timer);
      playing.value = !playing.value;
      if (!playing.value) return;
      if (shown.value === lines.length) shown.value = 0;
      void next();
    }
    onUnmounted(() => clearTimeout(timer));

    const label = (): string => {
      if (playing.value) return "Pause";
      return shown.value < lines.length ? "Go on" : "Watch it run";
    };
    return () =>
      h("figure", { class: "recorded" }, [
        h("figcaption", [
          h("button", { type: "button", onClick: press }, label()),
          ` ${recorded.command} on ${recorded.cores} cores: ${Math.round(seconds)} seconds, recorded; replayed ${faster} times as fast.`,
        ]),
        h(
          "pre",
          { ref: screen, tabindex: 0, "aria-label": `What ${recorded.command} prints` },
          lines
            .slice(0, shown.value)
            .map(({ text }) => `${text}\n`)
            .join(""),
        ),
      ]);
  },
});
