/** Light, dark, or as the system has it; remembered. */
import { effect, signal } from "@preact/signals";

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];
const kept = localStorage.getItem("theme");
export const theme = signal<Theme>(themes.find((t) => t === kept) ?? "system");

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
