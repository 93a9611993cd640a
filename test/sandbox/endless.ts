/** A process that executes a statement without end; killed by sql.test.ts. */
import { sqlSandbox } from "../../src/sandbox/sql.ts";

const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
const sandbox = sqlSandbox({ setup: "CREATE TABLE t (a INTEGER)", limits: { seconds: 60 } });
await sandbox.run("SELECT 1");
void sandbox.run(endless);
setTimeout(() => process.stdout.write("under way\n"), 100);
