/** What is far from where one looks need not be on the page: long lists and texts stand there in parts. */
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Pixels above and below the screen within which a part is there already. */
const margin = 300;

/** Whether the part is on the screen or near it, or has the focus. @param first whether it is there before anybody has looked. */
export function useNear(place: RefObject<Element | null>, first: boolean): boolean {
  const [near, setNear] = useState(first);
  useEffect(() => {
    const node = place.current;
    if (!node) return;
    const observer = new IntersectionObserver(
      (seen) => {
        const last = seen.at(-1);
        if (last) setNear(last.isIntersecting || node.contains(document.activeElement));
      },
      { rootMargin: `${margin}px` },
    );
    observer.observe(node);
    return () => observer.disconnect();
  }, [place]);
  return near;
}
