/** Keys, which stand in the environment and never on the command line. */
import { WhetstoneError } from "../core/errors.ts";

/** Where what serves finds the key that its clients have to send. */
export const servedKey = "WHETSTONE_KEY";

/**
 * The key in the variable that `--key-env` names, or in the usual one.
 * @throws WhetstoneError `option.range` for a named one that is not set.
 */
export function keyIn(named: string | undefined, usual: string): string | undefined {
  const key = process.env[named ?? usual] || undefined;
  if (named !== undefined && key === undefined) {
    throw new WhetstoneError("option.range", {
      where: "--key-env",
      got: `${named}, which is not set`,
      expected: "an environment variable with a key",
      fix: `Set it: export ${named}=…, or leave --key-env out for ${usual}.`,
    });
  }
  return key;
}
