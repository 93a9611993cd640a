/** Formulas as they are read: indices lowered, exponents raised, variables slanted. Copying gives the plain text. */
import { equationParts, type Part } from "./equationParts.ts";

export function Equation({ text }: { readonly text: string }) {
  return (
    <div class="equation">
      {text.split("\n").map((line) => (
        <div key={line}>{equationParts(line).map(shown)}</div>
      ))}
    </div>
  );
}

function shown(part: Part) {
  switch (part.kind) {
    case "text":
      return part.text;
    case "variable":
      return <i>{part.text}</i>;
    case "said":
      return <span class="faint">{part.text}</span>;
    case "sub":
      return (
        <sub>
          <Mark text={part.mark} />
          {part.text}
          <Mark text={part.close} />
        </sub>
      );
    case "sup":
      return (
        <sup>
          <Mark text={part.mark} />
          {part.text}
          <Mark text={part.close} />
        </sup>
      );
  }
}

/** There when copied, and not to be seen. */
const Mark = ({ text }: { readonly text: string }) => <span class="copied">{text}</span>;
