/** How untrusted programs and statements end. */

/** What kept a program from its end. */
export type Stopped =
  /** It threw, or did not parse: the runtime's own message, cut at 500 characters. */
  | { readonly kind: "error"; readonly message: string }
  /** `steps` are counted and the same everywhere; `seconds` are the wall clock's, and depend on the machine. */
  | { readonly kind: "timeout"; readonly limit: "steps" | "seconds"; readonly at: number }
  | { readonly kind: "memory"; readonly bytes: number }
  | { readonly kind: "output"; readonly limit: "characters" | "rows"; readonly at: number }
  /** The runtime itself fell over and was thrown away. */
  | { readonly kind: "crashed"; readonly message: string };

/** What is told to whoever wrote the program: one line. */
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

/** Longest message of an error, in characters. */
export const longestMessage = 500;
