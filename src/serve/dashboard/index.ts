/** The dashboard: its pages and what they ask for, as one app. */
import { Hono } from "hono";
import type { Store } from "../../store/index.ts";
import { dashboardApi } from "./api.ts";
import { dashboardPages } from "./pages.ts";

export { builtPages } from "./built.ts";

/** @param folder of the built pages; see {@link builtPages}. */
export function dashboard(store: Store, folder: string): Hono {
  return new Hono().route("/api", dashboardApi(store)).route("/", dashboardPages(folder));
}
