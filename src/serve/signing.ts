/** The secret that browser tokens are signed with. */
import { createHash, randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { writeError } from "../common/files/files.ts";
import { WhetstoneError } from "../core/errors.ts";

/**
 * Reads the environment variable WHETSTONE_SIGNING_SECRET, which all servers of one PostgreSQL store share; otherwise a file
 * that the first start creates, readable by its owner only; otherwise makes a random secret, with which tokens end when the
 * server ends. A changed secret invalidates all issued tokens at once.
 */
export async function signingSecret(
  environment: Readonly<Record<string, string | undefined>>,
  file?: string,
): Promise<Uint8Array> {
  const stated = environment.WHETSTONE_SIGNING_SECRET;
  if (stated !== undefined && stated !== "") {
    if (stated.length < 32) {
      throw new WhetstoneError("config.invalid", {
        where: "WHETSTONE_SIGNING_SECRET",
        got: `${stated.length} characters`,
        expected: "32 or more, drawn at random",
        fix: "Make one with: openssl rand -base64 32",
      });
    }
    return createHash("sha256").update(stated).digest();
  }
  if (file === undefined) return randomBytes(32);
  try {
    // only the process that creates the file writes it: two servers that start at once end up with one secret
    const made = await open(file, "wx", 0o600);
    try {
      const secret = randomBytes(32);
      await made.writeFile(secret);
      await made.sync();
      return secret;
    } finally {
      await made.close();
    }
  } catch (e) {
    if (!(e instanceof Error && "code" in e && e.code === "EEXIST")) throw writeError(file, e);
  }
  const kept = await readFile(file);
  if (kept.length === 32) return kept;
  throw new WhetstoneError("config.invalid", {
    where: file,
    got: `${kept.length} bytes`,
    expected: "the 32 bytes that tokens are signed with",
    fix: "Remove the file: the server makes a new one, and issued tokens become invalid.",
  });
}
