/** Feedback given by hand: the same door as for everybody else's. */
import { ask } from "../api.ts";

/** One signal as `POST /v1/feedback` takes it. */
export type Given = Readonly<Record<string, unknown>> & { readonly kind: string };

/** Sent once, however often the button is pressed: the key is made where the signal is. */
export async function give(signal: Given): Promise<void> {
  const key = crypto.randomUUID();
  await ask("/v1/feedback", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ source: "reviewer", ...signal }),
  });
}
