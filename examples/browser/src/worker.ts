/** The page's second thread, so that the page stays responsive while the agent learns. */
import { type Asked, learn, type Told } from "./learning.ts";

const tell = (told: Told): void => postMessage(told);
addEventListener("message", ({ data }: MessageEvent<Asked>) => {
  learn(data, tell).catch((e: unknown) =>
    tell({ kind: "failed", message: e instanceof Error ? e.message : String(e) }),
  );
});
