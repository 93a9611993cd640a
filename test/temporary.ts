/** The folder of tests' temporary files. */
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

/** Upper limit of what all tests together leave behind, in bytes. */
const enough = 2 ** 31;

/** In memory if there is room, because flushing is free there; else the system's temporary folder. */
export const temporary = roomIn("/dev/shm") > enough ? "/dev/shm" : tmpdir();

function roomIn(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
