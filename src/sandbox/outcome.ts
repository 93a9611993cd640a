/** Outcomes of untrusted programs and statements. */

/** Why a program did not complete. */
export type Stopped =
  /** It threw, or did not parse. The runtime's own message, cut at 500 characters. */
  | { readonly kind: "error"; readonly message: string }
  /** `steps` are counted and the same on every machine; `seconds` are wall-clock time. */
  | { readonly kind: "timeout"; readonly limit: "steps" | "seconds"; readonly at: number }
  | { readonly kind: "memory"; readonly bytes: number }
  | { readonly kind: "output"; readonly limit: "characters" | "rows"; readonly at: number }
  /** The runtime itself crashed and was discarded. */
  | { readonly kind: "crashed"; readonly message: string };

/** One-line message for the author of the program. */
export function inWords(stopped: Stopped): string {
  switch (stopped.kind) {
    case "error":
      return stopped.message;
    case "timeout":
      return `stopped: it ran for more than ${stopped.at} ${stopped.limit}`;
    case "memory":
      return `stopped: it took more than ${stopped.bytes} bytes of memory`;
    case "output":
      return `stopped: it put out more than ${stopped.at} ${stopped.limit}`;
    case "crashed":
      return `stopped: it brought its runtime down (${stopped.message})`;
  }
}

/** Largest length of an error message, in characters. */
export const longestMessage = 500;
