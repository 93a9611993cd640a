/** The way out, for whoever logged in. On this machine nobody has to, and nothing is shown. */
import { useEffect, useState } from "preact/hooks";
import type { WhoBody } from "../../../src/serve/dashboard/types.ts";
import { ask } from "../api.ts";

export function Account() {
  const [who, setWho] = useState<WhoBody>();
  useEffect(() => {
    // who may not look at all is led to the login page; any other trouble is for the page itself to say
    ask<WhoBody>("/api/session").then(setWho, () => {});
  }, []);
  if (who?.expires === undefined) return null;
  const leave = async (): Promise<void> => {
    await fetch("/api/session", { method: "DELETE" });
    location.assign("/login");
  };
  return (
    <button type="button" class="quiet" onClick={leave}>
      Log out
    </button>
  );
}
