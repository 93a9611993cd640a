/** Code that reads and writes files is loaded when files are asked for: what only computes runs in web pages too. */
import { WhetstoneError } from "../../core/errors.ts";

/**
 * Loads a module that uses Node's files.
 * @throws WhetstoneError `capability.missing` in a web page.
 */
export async function inNode<T>(load: () => Promise<T>): Promise<T> {
  if (globalThis.process?.versions?.node !== undefined) return await load();
  throw new WhetstoneError("capability.missing", {
    where: "a folder",
    got: "a web page, which has no folders",
    expected: "Node",
    fix: "Keep the model in memory, or train it in Node.",
  });
}
