/** What came of the commands that were ended, as a page. */
import { cpus } from "node:os";
import { type Ending, type EndingCase, isDocumented } from "./cases.ts";

const endingOf = ({ code, by }: Ending): string => (by === null ? `${code}` : by);

export function exitsPage(
  seen: readonly { readonly of: EndingCase; readonly ending: Ending }[],
  seconds: number,
): string {
  const rows = [...Map.groupBy(seen, ({ of }) => of)].map(([of, its]) => {
    const by = Map.groupBy(its, ({ ending }) => endingOf(ending));
    const ends = [...by].map(([end, all]) => `${end}: ${all.length}`).sort();
    const wrong = its.filter(({ ending }) => !isDocumented(of, ending)).length;
    return `| ${of.name} | ${its.length} | ${ends.join(", ")} | ${wrong} |`;
  });
  const aborts = seen.filter(({ ending }) => ending.by === "SIGABRT" || ending.code === 134).length;
  const wrong = seen.filter(({ of, ending }) => !isDocumented(of, ending)).length;
  return [
    "# How commands end that open the local engine",
    "",
    "Written by `node bench/exits.ts`.",
    "",
    `${seen.length} commands in ${Math.round(seconds)} s, ${cpus().length} cores, each kept busy by another process, Node ${process.versions.node}. Signals come at random moments, from Node's start to well into the work. Aborts: **${aborts}**; other endings than [docs/cli.md](../../docs/cli.md) says: **${wrong}**. A signal's name stands for a command that it ended before there was anything to save.`,
    "",
    "| command | times | ended with | not as documented |",
    "| --- | --: | --- | --: |",
    ...rows,
    "",
  ].join("\n");
}
