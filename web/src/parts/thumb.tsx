/** A thumb, drawn: not every system has a font with one. */
export function Thumb({ up }: { readonly up: boolean }) {
  return (
    <svg class={up ? "thumb up" : "thumb down"} viewBox="0 0 24 24" aria-hidden="true">
      <path d="M3 11h4v10H3zM7 11l4.5-8.5c1.6 0 2.7 1.2 2.5 2.8L13.4 9H20a1.8 1.8 0 0 1 1.8 2.2l-1.7 8A2.2 2.2 0 0 1 18 21H7" />
    </svg>
  );
}
