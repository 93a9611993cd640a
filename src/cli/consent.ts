/** A yes before something is done that people would not want by mistake. */
import { createInterface } from "node:readline/promises";
import { WhetstoneError } from "../core/errors.ts";

/**
 * Asks on the terminal, and returns once the answer was yes.
 * @param where the command. @param expected why there has to be a yes.
 * @throws WhetstoneError `option.range` for any other answer, or where there is nobody to ask.
 */
export async function requireConsent(where: string, question: string, expected: string): Promise<void> {
  const refused = (got: string): WhetstoneError =>
    new WhetstoneError("option.range", { where, got, expected, fix: "Answer yes, or add --yes." });
  if (process.stdin.isTTY !== true) throw refused("nobody to ask");
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await ask.question(`${question} [yes/no] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw refused(`"${answer.trim()}"`);
  } finally {
    ask.close();
  }
}
