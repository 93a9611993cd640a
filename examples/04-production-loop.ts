// The production loop in one process: a gateway in front of a policy, a conversation through the official `openai` client, a
// thumb, a correction, and the whole of it read back as a trajectory that can be learnt from. Under 3 s.
// Expect: one trajectory of two turns with exact tokens, two signals at their turns, and silence kept as exposures.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { whetstone } from "../src/client/index.ts";
import { logged } from "../src/exchange/index.ts";
import { tabularEngine } from "../src/index.ts";
import { liveVersions, policy, serveProduction } from "../src/serve/gateway/index.ts";
import { openTrafficStore, recorder } from "../src/store/index.ts";

// Who answers: here a policy that knows six words. `whetstone serve --upstream URL` puts any server in its place.
const engine = tabularEngine();
const model = await engine.create({
  id: "policy",
  seed: 1,
  vocabulary: ["how do i sleep", "routine coffee pills", "and then"],
  contextTokens: 64,
});

// The server: what is served and what is said of it goes into one file.
const folder = mkdtempSync(join(tmpdir(), "whetstone-"));
const production = await openTrafficStore(join(folder, "production.db"));
const record = recorder(production);
await production.addVersion({
  id: "v0",
  name: "first",
  backend: { kind: "local", name: "policy" },
  created: Date.now(),
});
const versions = await liveVersions({
  production,
  open: async () => policy(model, { maxTokens: 2, seed: 1 }),
});
const channels = ["reaction", "correction"];
const server = await serveProduction({
  production,
  recorder: record,
  versions,
  signing: randomBytes(32),
  channels,
});

// An agent as it is: only its base URL says that it is recorded, and as which session.
const openai = new OpenAI({ baseURL: `${server.url}/session/ann-1/v1`, apiKey: "none is needed here" });
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "how do i sleep" }];
const first = await openai.chat.completions.create({ model: "policy", messages });
messages.push(first.choices[0]!.message, { role: "user", content: "and then" });
const second = await openai.chat.completions.create({ model: "policy", messages });

// Its users: now, or weeks later. Once a call returns, the signal is on disk.
const client = whetstone({ url: server.url, user: "ann" });
await client.feedback.reaction(first.id, "thumbs_up");
await client.feedback.correction(second.id, "routine");
await client.close();

// Read back in the words that learning uses.
await record.flush();
for await (const { trajectory, signals, exposures } of logged(production)) {
  for (const [k, turn] of trajectory.turns.entries()) {
    const said = signals.filter((s) => s.about.some((ref) => ref.turn === k));
    const silent = exposures.filter((e) => e.about.turn === k && !said.some((s) => s.exposure === e.id));
    console.log(`turn ${k}: ${turn.prompt.at(-1)?.content} → ${turn.action.content}`);
    const { action, logp } = turn.tokens!;
    console.log(`  ${action.length} exact tokens, ln p ${Array.from(logp, (x) => x.toFixed(2)).join(" ")}`);
    console.log(`  said: ${said.map((s) => `${s.kind} ${"text" in s ? s.text : ""}`).join(", ")}`);
    console.log(`  silent: ${silent.map((e) => e.channel).join(", ")}`);
  }
  if (trajectory.turns.length !== 2 || signals.length !== 2) throw new Error("something went missing");
}

await server.close();
await versions.close();
await record.close();
await production.close();
await engine.dispose();
rmSync(folder, { recursive: true });
