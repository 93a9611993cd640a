/** Whether a model's chat template says which tools there are. */
import type { Finding } from "../../core/finding.ts";
import type { Codec } from "../../core/model.ts";
import type { Message, Tool } from "../../core/types.ts";

/** A warning where the template leaves out the tools of an environment: the model then never reads of them. */
export function toolFindings(tools: readonly Tool[], codec: Codec): readonly Finding[] {
  if (tools.length === 0) return [];
  const asked: Message = { role: "user", content: "?" };
  if (!leavesOut(codec, [asked], [{ role: "system", content: "", tools }, asked])) return [];
  return [
    {
      check: "tools",
      severity: "warning",
      problem: `The model's chat template does not support tools, so the model does not see ${tools.map(({ name }) => name).join(", ")}.`,
      fix: "Add --tools-in-text (in a program: templateVariables: { tools_in_text: true }), which writes them into the messages, or choose a model whose template takes tools.",
    },
  ];
}

function leavesOut(codec: Codec, plain: readonly Message[], offering: readonly Message[]): boolean {
  try {
    const [without, offered] = [codec.open(plain), codec.open(offering)];
    return without.length === offered.length && offered.every((id, i) => id === without[i]);
  } catch {
    return false; // words that a small vocabulary lacks, or a template that wants other roles: episodes will tell
  }
}
