/** Loads a config file: a module whose default export is a run. */
import { basename } from "node:path";
import { loadModule } from "./module.ts";
import { checkConfig, type StatedRun } from "./options.ts";

export const loadConfig = async (file: string): Promise<StatedRun> =>
  checkConfig(await loadModule(file), basename(file));
