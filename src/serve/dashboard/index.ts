/** The dashboard: its pages and what they ask for, as one app. */
import { Hono } from "hono";
import type { Production } from "../../store/production.ts";
import type { Store } from "../../store/store.ts";
import type { Gate, Gated } from "../auth.ts";
import { dashboardApi } from "./api.ts";
import type { ArtefactSources } from "./artefacts.ts";
import { inboxRoutes } from "./inbox.ts";
import { loginRoutes } from "./login.ts";
import { dashboardPages } from "./pages.ts";

export { builtPages } from "./built.ts";

export interface DashboardOptions {
  /** Runs. */
  readonly store: Store;
  /** What was served, and what people said of it. */
  readonly production: Pick<Production, "response" | "responses" | "signals"> & ArtefactSources["production"];
  /** Of the built pages; see {@link builtPages}. */
  readonly folder: string;
  readonly gate: Gate;
}

/** Pages at every path that nothing else answers, which anybody may load; data below `/api`, for who may read. */
export function dashboard({ store, production, folder, gate }: DashboardOptions): Hono<Gated> {
  return new Hono<Gated>()
    .route("/", loginRoutes(gate))
    .use("/api/*", gate.allow("read"))
    .route("/", inboxRoutes(production, gate))
    .route("/api", dashboardApi(store, production, gate))
    .route("/", dashboardPages(folder));
}
