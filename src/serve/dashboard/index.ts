/** The dashboard: its pages and their API, as one app. */
import { Hono } from "hono";
import type { RunStore } from "../../store/runStore.ts";
import type { TrafficStore } from "../../store/trafficStore.ts";
import type { Gate, Gated } from "../auth.ts";
import { dashboardApi } from "./api.ts";
import type { ArtefactSources } from "./artefacts.ts";
import { inboxRoutes } from "./inbox.ts";
import { loginRoutes } from "./login.ts";
import { dashboardPages } from "./pages.ts";

export { builtPages } from "./built.ts";

/** Settings of {@link dashboard}. */
export interface DashboardOptions {
  /** Store of runs. */
  readonly store: RunStore;
  /** Store of served responses and feedback. */
  readonly production: Pick<TrafficStore, "response" | "responses" | "signals" | "completeSessions"> &
    ArtefactSources["production"];
  /** Folder of the built pages; see {@link builtPages}. */
  readonly folder: string;
  readonly gate: Gate;
}

/** Serves the pages at every other path, without a key, and the data below `/api`, which needs the scope `read`. */
export function dashboard({ store, production, folder, gate }: DashboardOptions): Hono<Gated> {
  return new Hono<Gated>()
    .route("/", loginRoutes(gate))
    .use("/api/*", gate.allow("read"))
    .route("/", inboxRoutes(production, gate))
    .route("/api", dashboardApi(store, production, gate))
    .route("/", dashboardPages(folder));
}
