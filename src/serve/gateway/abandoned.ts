/** Calls whose client did not wait for their end. */
import type { ServedResponse } from "../../core/served.ts";

/** The recorded error of such a call. */
export const clientGone = "the client went away";

/** What its upstream wrote, or goes on writing, is not known. */
export const isAbandoned = ({ status, error }: Pick<ServedResponse, "status" | "error">): boolean =>
  status === "cut" && error === clientGone;
