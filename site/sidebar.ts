/** The site's pages in learning order. A page of docs/ that no group lists fails the build. */
export interface Group {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: `/${string}.md` }[];
}

export const sidebar: readonly Group[] = [
  {
    text: "Begin",
    items: [
      { text: "Overview", link: "/overview.md" },
      { text: "The first hour", link: "/first-hour.md" },
      { text: "An environment of your own", link: "/environments.md" },
      { text: "A real model on a laptop", link: "/real-models.md" },
      { text: "In a browser", link: "/browser.md" },
      { text: "Glossary", link: "/glossary.md" },
    ],
  },
  {
    text: "Coming from",
    items: [
      { text: "TRL", link: "/from-trl.md" },
      { text: "The AI SDK", link: "/from-ai-sdk.md" },
      { text: "Langfuse", link: "/from-langfuse.md" },
      { text: "DSPy or Ax", link: "/from-dspy.md" },
    ],
  },
  {
    text: "An agent in production",
    items: [
      { text: "Bring your own agent", link: "/bring-your-own-agent.md" },
      { text: "Gateway", link: "/gateway.md" },
      { text: "Feedback", link: "/feedback.md" },
      { text: "Data", link: "/data.md" },
      { text: "Learning without weights", link: "/weight-free.md" },
      { text: "Serving a trained model", link: "/serving.md" },
      { text: "Versions", link: "/versions.md" },
      { text: "Closed loop", link: "/closed-loop.md" },
      { text: "Operations", link: "/operations.md" },
      { text: "Dashboard", link: "/dashboard.md" },
    ],
  },
  {
    text: "Measuring",
    items: [
      { text: "Judges", link: "/judges.md" },
      { text: "One hard problem", link: "/discover.md" },
      { text: "Games and self-play", link: "/self-play.md" },
      { text: "Suites", link: "/suites.md" },
      { text: "Chat models", link: "/chat.md" },
      { text: "Adapters", link: "/adapters.md" },
      { text: "Sandbox", link: "/sandbox.md" },
    ],
  },
  {
    text: "Methods",
    items: [
      { text: "Catalogue with mathematics", link: "/catalogue.md" },
      { text: "Evidence", link: "/methods.md" },
      { text: "Leaderboard", link: "/leaderboard.md" },
      { text: "Turn-level methods compared", link: "/comparisons/facts-turn-level.md" },
      { text: "A pretrained model compared", link: "/comparisons/real-extract.md" },
      { text: "Twelve methods on it", link: "/comparisons/real-extract-twelve.md" },
      { text: "The same twelve unlearn a fact", link: "/comparisons/real-unlearn-twelve.md" },
      { text: "Budgets of feedback compared", link: "/comparisons/feedback-budget.md" },
      { text: "What a reward model costs", link: "/comparisons/judges.md" },
      { text: "Curricula and uniform choice", link: "/comparisons/curricula.md" },
      { text: "Adding a method", link: "/adding-a-method.md" },
    ],
  },
  {
    text: "Larger models, more machines",
    items: [
      { text: "Engine", link: "/engine.md" },
      { text: "On a GPU", link: "/gpu.md" },
      { text: "To a cluster", link: "/cluster.md" },
      { text: "On Kubernetes", link: "/kubernetes.md" },
      { text: "Tinker API", link: "/tinker.md" },
      { text: "A hundred nodes", link: "/scale.md" },
    ],
  },
  {
    text: "Reference",
    items: [
      { text: "Commands", link: "/cli.md" },
      { text: "API", link: "/api/index.md" },
      { text: "Shared types", link: "/types.md" },
      { text: "Architecture", link: "/architecture.md" },
      { text: "Decisions", link: "/decisions.md" },
      { text: "Benchmarks", link: "/bench/README.md" },
      { text: "Contributing", link: "/CONTRIBUTING.md" },
      { text: "Changes", link: "/CHANGELOG.md" },
    ],
  },
];
