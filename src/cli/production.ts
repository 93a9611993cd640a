/** The store of the production loop, as commands name it. */
import { Option } from "commander";

/** Where traffic, feedback, versions and keys are. A connection URL with a password is better said by the environment. */
export const productionOption = (): Option =>
  new Option("--store <where>", "SQLite file, or postgres:// URL, of what is served and said of it")
    .env("WHETSTONE_STORE")
    .default("runs/whetstone.sqlite");
