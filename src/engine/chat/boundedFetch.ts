/** A fetch whose answers have a largest size: a server that never stops sending costs an error, and no memory. */

/** Far above any reply of text: a million tokens are about 4 MB. */
const most = { mebibytes: 16 } as const;

/** A body that is larger than {@link boundedFetch} reads. */
export class TooLargeError extends Error {
  override readonly name = "TooLargeError";
  constructor() {
    super(`an answer of more than ${most.mebibytes} MiB, of which the rest was not read`);
  }
}

/** `fetch`, with bodies of at most 16 MiB: what sends more is cut off with an error. For the `fetch` of a provider of the AI SDK. */
export async function boundedFetch(...asked: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...asked);
  if (!response.body) return response;
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, to) {
      bytes += chunk.byteLength;
      if (bytes > most.mebibytes * 2 ** 20) throw new TooLargeError();
      to.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(bound), response);
}
