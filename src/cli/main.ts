#!/usr/bin/env node
import { nodeTooOld } from "./node-version.ts";

const tooOld = nodeTooOld();
if (tooOld !== undefined) {
  process.stderr.write(`${tooOld}\n`);
  process.exit(1);
}
// loaded only now: older versions of Node cannot even read it
const { runCommand } = await import("./program.ts");
process.exitCode = await runCommand(process.argv.slice(2));
