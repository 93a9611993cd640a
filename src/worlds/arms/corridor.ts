/** Shared by checks in the corridor: a tabular policy with an initial bias towards the right actions. */
import { type Prior, tabularEngine } from "../../engine/tabular/engine.ts";
import { rightAction } from "../keyDoor.ts";

const actions = ["left", "right", "pick", "open", "wave", "sing"];

/** @param lean initial log-odds of the right action, in nats. */
export function leaning(lean: number, cells = 4) {
  const prior: Prior = (context, word) => {
    if (!actions.includes(word)) return -1e9;
    const at = context.indexOf("cell");
    return at >= 0 && rightAction(context.slice(at, at + 4).join(" "), cells) === word ? lean : 0;
  };
  return () => tabularEngine({ context: "message", prior });
}
