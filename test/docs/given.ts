/** What blocks of TypeScript on the pages take for granted, for their type check. */

/** Pages whose code stands word for word in a program of examples/, which is run. */
export const standsInProgram: ReadonlySet<string> = new Set(["README.md", "docs/from-ai-sdk.md"]);

/** Parts of an expression. */
export const unfinished: ReadonlySet<string> = new Set(["docs/adding-a-method.md#2"]);

interface Given {
  readonly before?: string;
  readonly after?: string;
}

const aiSdk = 'import { generateText, wrapLanguageModel } from "ai";\n';
const openAi = 'import { createOpenAICompatible } from "@ai-sdk/openai-compatible";\n';
const completion = "declare const completion: { readonly id: string };\n";

/** By `page#number of the block`. */
export const given: Readonly<Record<string, Given>> = {
  "docs/bring-your-own-agent.md#1": {
    before: `import type { ToolSet } from "ai";
      declare const tools: ToolSet;
      type Question = { readonly question: string; readonly answer: string };
      declare const questions: readonly Question[];
      declare const others: readonly Question[];\n`,
  },
  "docs/browser.md#1": {
    before: `import type { Environment } from "whetstone/env";
      import type { Recipe } from "whetstone/method";
      declare const environment: Environment;
      declare const mine: Recipe;\n`,
  },
  "docs/closed-loop.md#1": { before: completion },
  "docs/closed-loop.md#2": {
    before: "declare const myFeatures: (turn: unknown) => Readonly<Record<string, number>>;\n",
  },
  "docs/engine.md#1": { before: 'import { localEngine } from "whetstone";\n' },
  "docs/environments.md#1": {
    before: `import type { Episode, Task } from "whetstone";
      type Shipment = Task<Parcel>;
      declare const forTraining: readonly Shipment[];
      declare const forTesting: readonly Shipment[];
      declare const episodeOf: (city: string) => Episode;
      declare const dockOf: (city: string) => string;
      declare const cities: readonly string[];
      declare const docks: readonly string[];\n`,
  },
  "docs/feedback.md#1": { before: completion },
  "docs/feedback.md#2": {
    before: `${aiSdk}${openAi}
      declare const chatId: string;
      declare const prompt: string;
      const { feedback } = whetstone({ url: "http://127.0.0.1:8600" });\n`,
  },
  "docs/gateway.md#1": { before: `${openAi}declare const apiKey: string;\n` },
  "docs/versions.md#1": {
    before: `interface Logged {
        readonly user: string;
        readonly trajectory: string;
        readonly turns: readonly {
          readonly underCandidate: Float32Array;
          readonly behaviour: Float32Array;
          readonly reward: number;
        }[];
      }
      declare const logged: readonly Logged[];\n`,
  },
  "docs/versions.md#2": {
    before: `import type { TrafficStore } from "whetstone/store";
      declare const production: TrafficStore;\n`,
  },
  "docs/weight-free.md#1": {
    before: `import type { Artefact, Ctx, Update } from "whetstone/core";
      type Proposal = Parameters<Ctx["artefacts"]["propose"]>[0];
      declare const proposal: Required<Proposal>;
      const { name, artefact, parents, why, origins } = proposal;
      const slots: { update: Update } = {\n`,
    after: "};\n",
  },
  "docs/weight-free.md#2": {
    before: `${openAi}import { chatModel } from "whetstone/engine";
      import { chatBlackBox, guided, tickets } from "whetstone/env";
      import type { Task } from "whetstone";
      declare const [name, baseURL, apiKey, id]: readonly [string, string, string, string];
      declare const wordsOfTheReferenceIn: (task: Task) => string;\n`,
  },
  "docs/weight-free.md#4": {
    before: `declare const initModel: (source: string) => Promise<{ embed(texts: string[]): Promise<number[][]> }>;
      declare const modelSource: string;\n`,
  },
};
