/** Light, dark, or as the system has it; remembered. */
import { computed, effect, signal } from "@preact/signals";

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];
const kept = localStorage.getItem("theme");
const theme = signal<Theme>(themes.find((t) => t === kept) ?? "system");

const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", () => {
  systemDark.value = system.matches;
});
/** Paper is light, whatever the theme. */
const paper = matchMedia("print");
const onPaper = signal(paper.matches);
paper.addEventListener("change", () => {
  onPaper.value = paper.matches;
});
/** Whether it is dark: what is drawn in colours of its own is drawn anew when this changes. */
export const dark = computed(
  () => !onPaper.value && (theme.value === "system" ? systemDark.value : theme.value === "dark"),
);

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  localStorage.setItem("theme", theme.value);
});

export function ThemeSwitch() {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system";
  return (
    <button
      type="button"
      class="quiet"
      onClick={() => {
        theme.value = next;
      }}
      aria-label={`Theme: ${theme.value}. Switch to ${next}.`}
    >
      {theme.value}
    </button>
  );
}
