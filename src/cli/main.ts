#!/usr/bin/env node
import module from "node:module";
import { nodeTooOld } from "./nodeVersion.ts";
import { restartForSingleCore } from "./threadPriority.ts";

const tooOld = nodeTooOld();
if (tooOld !== undefined) {
  process.stderr.write(`${tooOld}\n`);
  process.exit(1);
}
// of a module that is none for Node, `loadModule` says the same in one line
const printed = process.listeners("warning");
process.removeAllListeners("warning").on("warning", (warning) => {
  if (!warning.message.startsWith("Failed to load the ES module"))
    for (const print of printed) print(warning);
});
if (process.argv[2] === "serve") restartForSingleCore();
// compiled modules are kept in the system's temporary folder: commands begin twice as fast from the second time on
module.enableCompileCache();
// loaded only now: older versions of Node cannot even read it
const { runCommand } = await import("./program.ts");
const args = process.argv.slice(2);
process.exitCode = await runCommand(args);
// a judge in a file may have left a timer or a connection, which would keep the process up after the report
if (args.find((arg) => !arg.startsWith("-")) === "judge") {
  setInterval(() => {
    if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit();
  }, 500).unref();
}
