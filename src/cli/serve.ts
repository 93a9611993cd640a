/** `whetstone serve`: a gateway that records and learns, an environment for others to train in, or models for others to train. */
import { type Command, Option } from "commander";
import { WhetstoneError } from "../core/errors.ts";
import { requireSoundTasks } from "../diagnose/environment/validate.ts";
import { serveOpenEnv } from "../serve/openenv.ts";
import { requireEnvironment } from "./catalogue.ts";
import { signalled } from "./interrupted.ts";
import { keyIn, servedKey } from "./keyEnv.ts";
import { statedNumber } from "./numbers.ts";
import { highestPort } from "./options.ts";
import { addCommand, addNote, type Io } from "./output.ts";
import type { GatewayFlags } from "./serveGateway.ts";
import { trafficStoreOption } from "./trafficStore.ts";
import { addUpstreamOptions } from "./upstreamOptions.ts";

interface OpenEnvFlags {
  readonly openenv: string;
  readonly port?: string;
  readonly host: string;
  readonly keyEnv?: string;
  readonly allowHost?: readonly string[];
  readonly sessions: string;
}
type ServeOptions = GatewayFlags &
  Omit<OpenEnvFlags, "openenv"> & {
    readonly openenv?: string;
    readonly tinker?: true;
    readonly checkpoints: string;
  };

export function addServe(program: Command, io: Io): void {
  const command = addCommand(
    program,
    "serve",
    "Run a gateway that forwards and records agents' model calls and takes feedback; or serve an environment, or models to train.",
    [
      "whetstone serve --upstream https://api.openai.com/v1 --channels reaction,comment",
      "whetstone serve --upstream http://127.0.0.1:8000/v1 --model qwen3 --exact raw",
      "whetstone serve --policy runs/support --port 8600",
      "whetstone serve --upstream https://api.openai.com/v1 --model gpt-5-mini --guide runs/guide",
      "whetstone serve",
      "whetstone serve --openenv facts",
      "whetstone serve --openenv ./my-environment.ts --port 8000 --sessions 16",
      "whetstone serve --tinker",
      "whetstone serve --tinker --model ./qwen,HuggingFaceTB/SmolLM2-135M --port 8000",
    ],
  );
  addNote(
    command,
    "Without --upstream and --policy, the versions in the store answer: see whetstone versions. docs/gateway.md is the guide to the gateway. docs/tinker.md says what --tinker supports.",
  );
  addUpstreamOptions(command)
    .option(
      "--pass-through",
      "gateway: pass every other path below /v1 (files, images, audio, batches) to the upstream as well; a key of scope chat then reaches all that the upstream's key does",
    )
    .option(
      "--model <name>",
      "model to request from the upstream (default: the one that the client names); with --tinker: folders or Hugging Face ids, separated by commas (default: a tiny model with random weights)",
    )
    .addOption(
      new Option(
        "--exact <kind>",
        "the upstream returns token ids and log-probabilities as vLLM does: of the model's own distribution (raw), or of the distribution that it samples from (processed)",
      ).choices(["raw", "processed"]),
    )
    .option(
      "--policy <run-or-checkpoint>",
      "gateway: answer with the weights of this run, GGUF file or model's folder, in this process",
    )
    .option(
      "--guide <version-or-run>",
      "gateway: add hints to every prompt, written by this version or by a run's weights in this process",
    )
    .option("--frame <text>", "with --guide: how the hint stands in the prompt (default: Hint: {hint})")
    .addOption(trafficStoreOption())
    .option(
      "--channels <names>",
      "channels on which users can give feedback, e.g. reaction,comment; missing feedback on them is recorded as silence",
    )
    .option(
      "--guard <duration>",
      "compare the live versions at this interval, such as 30s, and roll back a version that is shown to be harmful (default: never)",
    )
    .option(
      "--redact <what>",
      "taken out before anything is stored: all, or some of secret,email,iban,card,ip,phone (default: none)",
    )
    .addOption(
      new Option(
        "--log <format>",
        "gateway: the log on stderr as lines of text, or as one JSON object a line",
      )
        .choices(["text", "json"])
        .default("text"),
    )
    .option(
      "--origin <url>",
      "allow pages of this site to send feedback, and nothing else; may be repeated",
      collected,
    )
    .option(
      "--allow-host <name>",
      "additional host name, beside localhost, that requests may use; may be repeated",
      collected,
    )
    .option(
      "--proxies <n>",
      "number of your own reverse proxies in front of the server; the client address that they forward is trusted (default: 0)",
    )
    .option("--openenv <env>", "environment (see whetstone envs), or a module that exports one")
    .option("--tinker", "serve models to clients of the Tinker training API, such as the tinker SDK")
    .option("--checkpoints <folder>", "with --tinker: where clients' checkpoints are kept", "tinker")
    .option("--port <n>", "port; 0 takes any free one (default: 8600; with --openenv or --tinker: 8000)")
    .option("--host <address>", "address to listen on; any other than loopback needs a key", "127.0.0.1")
    .option(
      "--key-env <name>",
      "with --openenv or --tinker: environment variable with the key that clients must send (default: WHETSTONE_KEY)",
    )
    .option("--sessions <n>", "with --openenv: maximum number of concurrent episodes", "64")
    .action(async ({ openenv, tinker, ...flags }: ServeOptions) => {
      if (openenv !== undefined) {
        refuseBoth("--openenv", { ...flags, tinker });
        return await serveEnvironment({ ...flags, openenv }, io);
      }
      if (tinker) {
        refuseBoth("--tinker", flags);
        const { serveTinker } = await import("./serveTinker.ts");
        return await serveTinker(flags, io, signalled);
      }
      // loaded when it is asked for: databases and clients take their time
      const { serveGateway } = await import("./serveGateway.ts");
      await serveGateway(flags, io, signalled);
    });
}

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

function refuseBoth(
  one: string,
  {
    upstream,
    policy,
    guide,
    tinker,
  }: Pick<GatewayFlags, "upstream" | "policy" | "guide"> & { readonly tinker?: true | undefined },
): void {
  const others = { "--upstream": upstream, "--policy": policy, "--guide": guide, "--tinker": tinker };
  const other = Object.entries(others).find(([, value]) => value !== undefined)?.[0];
  if (other === undefined) return;
  throw new WhetstoneError("option.range", {
    where: "serve",
    got: `both ${one} and ${other}`,
    expected: "one of them",
    fix: "Run two commands, one for each.",
  });
}

async function serveEnvironment(flags: OpenEnvFlags, io: Io): Promise<void> {
  const { openenv, port = "8000", host, keyEnv, allowHost, sessions } = flags;
  const environment = await requireEnvironment("--openenv", openenv);
  await requireSoundTasks(environment);
  const key = keyIn(keyEnv, servedKey);
  const server = await serveOpenEnv({
    environment,
    host,
    port: statedNumber("--port", port, 0, highestPort),
    sessions: statedNumber("--sessions", sessions, 1, 100_000),
    ...(allowHost && { names: allowHost }),
    ...(key === undefined ? {} : { key }),
  });
  io.record({ type: "serving", environment: environment.name, url: server.url });
  io.say(`${environment.name} is served at ${server.url} (OpenEnv). Ctrl-C ends it.`);
  await signalled();
  await server.close();
  io.say("Closed.");
}
