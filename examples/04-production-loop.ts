// The production loop in one process: a gateway serves a policy to an agent that uses the official `openai` client, users
// react and correct, a new policy learns from the corrections, and live feedback promotes it. About 6 s.
// Expect: about one good reply in ten before, nearly all of them after, and the decision "promote".
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import OpenAI from "openai";
import { whetstone } from "../src/client/index.ts";
import { findMethod, tabularEngine } from "../src/index.ts";
import { releaseController } from "../src/release/index.ts";
import { liveVersions, openVersion, policy, serveProduction } from "../src/serve/index.ts";
import { openTrafficStore, recorder } from "../src/store/index.ts";
import { trainFromFeedback } from "../src/train/index.ts";

// Who answers: here a policy that knows a few words. `whetstone serve --upstream URL` puts any server in its place.
const engine = tabularEngine({ context: 1 });
const model = await engine.create({
  id: "policy",
  seed: 1,
  vocabulary: ["how do i sleep rest wake calm eat focus now", "routine coffee pills"],
  contextTokens: 64,
});

// The server: traffic and feedback go into one store, from which it also takes the versions and their shares.
const folder = mkdtempSync(join(tmpdir(), "whetstone-"));
const production = await openTrafficStore(join(folder, "production.db"));
const record = recorder(production);
const first = {
  id: "v0",
  name: "first",
  backend: { kind: "local", name: "first" },
  created: Date.now(),
} as const;
await production.addVersion(first);
const openers = {
  environment: {},
  local: { first: policy(model, { maxTokens: 1, seed: 1 }) },
  run: async (weights: string) => policy(await engine.open("policy", weights), { maxTokens: 1, seed: 1 }),
};
const versions = await liveVersions({ production, open: (version) => openVersion(version, openers) });
const server = await serveProduction({
  production,
  recorder: record,
  versions,
  signing: randomBytes(32),
  channels: ["reaction", "correction"],
});

// An agent as it is: only its base URL says that it is recorded, and as which session. Its users want a routine.
const client = whetstone({ url: server.url });
let visits = 0;
async function visit(): Promise<boolean> {
  const subject = ["sleep", "rest", "wake", "calm", "eat", "focus"][visits % 6];
  const openai = new OpenAI({
    baseURL: `${server.url}/session/${visits++}/v1`,
    apiKey: "none is needed here",
  });
  const messages = [{ role: "user" as const, content: `how do i ${subject} now` }];
  const reply = await openai.chat.completions.create({ model: "policy", messages });
  const good = reply.choices[0]!.message.content === "routine";
  // once a call returns, the signal is on disk
  await client.feedback.reaction(reply.id, good ? "thumbs_up" : "thumbs_down");
  if (!good) await client.feedback.correction(reply.id, "routine");
  return good;
}
async function shareOfGood(count: number): Promise<number> {
  const good: boolean[] = [];
  for (let i = 0; i < count; i++) good.push(await visit());
  return good.filter(Boolean).length / count;
}
const before = await shareOfGood(60);
console.log(`v0: ${(100 * before).toFixed(0)} % good replies`);

// Learn: DPO declares that it learns from pairs, and every correction is one.
await record.flush();
const run = await trainFromFeedback(production, {
  method: findMethod("dpo").build({ learningRate: 0.5 }),
  engine,
  iterations: 30,
  out: join(folder, "runs", "dpo"),
});
console.log(`dpo: agrees with ${(100 * run.success.mean).toFixed(0)} % of the users with a held-out prompt`);

// Release: half of the sessions get the new version, until their feedback decides.
const { weights } = run;
await production.addVersion({
  id: "v1",
  name: "from corrections",
  backend: { kind: "run", folder: weights },
  created: Date.now(),
  parent: "v0",
});
const window = 200;
const release = releaseController({ production, window });
await release.split({ v0: 0.5, v1: 0.5 }, "v1 learnt from the corrections of v0");
await versions.refresh();
await shareOfGood(120);
await record.flush();
await pause(2 * window);
const { judgements } = await release.state();
const [judgement] = judgements;
console.log(`v1: ${judgement?.decision}, ${judgement?.why}`);
if (judgement?.decision === "promote") await release.promote("v1", judgement.why);
await versions.refresh();
const after = await shareOfGood(30);
console.log(`everybody: ${(100 * after).toFixed(0)} % good replies`);
if (judgement?.decision !== "promote" || after < before + 0.3) throw new Error("the loop did not close");

await client.close();
await server.close();
await versions.close();
await record.close();
await production.close();
await engine.dispose();
rmSync(folder, { recursive: true });
