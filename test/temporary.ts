/** Where tests keep their files. */
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

/** What all tests at once leave behind at most, with room to spare, in bytes. */
const enough = 2 ** 31;

/** In memory where there is room, since flushing costs nothing there; else with all that is temporary. */
export const temporary = roomIn("/dev/shm") > enough ? "/dev/shm" : tmpdir();

function roomIn(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
