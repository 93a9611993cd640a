/** Colours of the sheet as drawings need them: worked out for the theme that is on, e.g. `rgb(11, 87, 164)`. */
export function inks(): (name: string) => string {
  const probe = document.createElement("span");
  document.body.append(probe);
  const found = new Map<string, string>();
  const ink = (name: string): string => {
    const known = found.get(name);
    if (known) return known;
    probe.style.color = `var(${name})`;
    const colour = getComputedStyle(probe).color;
    found.set(name, colour);
    return colour;
  };
  // whoever draws asks at once
  queueMicrotask(() => probe.remove());
  return ink;
}

/** Of lines and their bands, in order. */
export const lineInks = ["--line-1", "--line-2", "--line-3", "--line-4", "--line-5", "--line-6"] as const;
