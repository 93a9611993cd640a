/** Which page stands at which address, by the names of its file. The runs page is part of the first script. */
export const routes = {
  "/runs/:id": "run",
  "/runs/:id/episodes": "episodes",
  "/runs/:id/episode": "episode",
  "/runs/:id/tasks": "tasks",
  "/comparisons/:id": "comparison",
  "/compare": "compare",
  "/compare/leagues/:id": "league",
  "/inbox": "inbox",
  "/sessions": "sessions",
  "/sessions/:id": "session",
  "/versions": "versions",
  "/artefacts": "artefacts",
  "/artefacts/:id": "artefact",
  "/login": "login",
  "/methods": "methods",
  "/methods/:id": "method",
} as const;
