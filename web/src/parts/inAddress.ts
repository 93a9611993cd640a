/** What was chosen on a page stands in its address: a place that one can come back to, and pass on. */
import { useLocation } from "preact-iso";

export interface InAddress {
  readonly query: Readonly<Record<string, string>>;
  /** Chooses something, or puts it back as it was: with nothing, or an empty text. */
  readonly choose: (choice: Readonly<Record<string, string | undefined>>) => void;
}

export function useInAddress(): InAddress {
  const { query, path, route } = useLocation();
  return {
    query,
    choose(choice) {
      const chosen = Object.entries({ ...query, ...choice }).flatMap(([name, value]) =>
        value ? [[name, value]] : [],
      );
      route(chosen.length > 0 ? `${path}?${new URLSearchParams(chosen)}` : path, true);
    },
  };
}
