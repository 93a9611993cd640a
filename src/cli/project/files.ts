/** The files of a new project: those of its start, and those that every project has. */
import type { Start } from "./start.ts";

const packageJson = (name: string, source: string, { scripts, dependencies }: Start): string =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: "module",
      scripts: { ...scripts, test: "node --test", types: "tsc" },
      dependencies: { ...dependencies, whetstone: source },
      devDependencies: { "@types/node": "^24.19.2", typescript: "^7.0.2" },
    },
    undefined,
    2,
  )}\n`;

/** As ONNX Runtime's script would fetch libraries for NVIDIA's GPUs, from a server of its own, which the CPU needs none of. */
const npmrc = `# packages run no scripts of their own when they are installed; nothing here needs any
ignore-scripts=true
`;

const tsconfig = `{
  "compilerOptions": {
    "target": "es2024",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noUncheckedIndexedAccess": true,
    // Node runs the files as they are: it removes types, and nothing else
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "noEmit": true,
    "skipLibCheck": true
  },
  "include": ["*.ts"]
}
`;

/** Training is short enough to be a check of each change: a worse agent fails it. */
const workflow = ({ checks, run }: Start): string => `name: agent
on: [push, pull_request]
permissions:
  contents: read
jobs:
  agent:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 24
      # npm ci wants the package-lock.json of npm install; a package from a file has to be in the repository
      - run: npm ci
      - run: npm run types
      - run: npm test
${checks.map((command) => `      - run: ${command}\n`).join("")}      - run: npm start
      - run: npx whetstone eval ${run} --greedy --fail-under 0.8
`;

const readme = (name: string, { about }: Start): string => `# ${name}

An agent that learns from feedback, with [Whetstone](https://www.npmjs.com/package/whetstone). Needs Node 22.18 or newer.

    npm install
    npm run types       # the compiler finds nothing to object to
${about}
- \`.github/workflows/agent.yml\`: on GitHub, each push trains the agent, and fails where success falls below 80 %.
`;

/**
 * Texts by file name, with folders.
 * @param source of the package, as `package.json` states it.
 */
export const projectFiles = (
  name: string,
  start: Start,
  source = "^0.1.0",
): Readonly<Record<string, string>> => ({
  "package.json": packageJson(name, source, start),
  "README.md": readme(name, start),
  ".gitignore": "node_modules/\nruns/\n",
  ".npmrc": npmrc,
  "tsconfig.json": tsconfig,
  ".github/workflows/agent.yml": workflow(start),
  ...start.files,
});
