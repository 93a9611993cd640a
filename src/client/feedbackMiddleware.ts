/** AI SDK middleware: labels calls with session and user, and adds the response id that feedback needs to their results. */
import type { LanguageModelV4Middleware, SharedV4ProviderMetadata } from "@ai-sdk/provider";

/** Settings of {@link feedbackMiddleware}. */
export interface FeedbackMiddlewareOptions {
  /** Name shared by all calls of one conversation. Default: the gateway tells conversations apart by their messages. */
  readonly session?: string;
  /** Pseudonym of the user. */
  readonly user?: string;
  /** Channels on which this reply's reader can give feedback: a reply without any then counts as observed without feedback. */
  readonly channels?: readonly string[];
}

/**
 * Middleware for `wrapLanguageModel`, around a model whose base URL is that of `whetstone serve`. The id of each response is in
 * `providerMetadata.whetstone.response`; in a stream, in the metadata of its finish part.
 */
export function feedbackMiddleware({
  session,
  user,
  channels,
}: FeedbackMiddlewareOptions = {}): LanguageModelV4Middleware {
  const own = {
    ...(session === undefined ? {} : { "x-whetstone-session": encoded(session) }),
    ...(user === undefined ? {} : { "x-whetstone-user": encoded(user) }),
    ...(channels === undefined ? {} : { "x-whetstone-channels": channels.join(",") }),
  };
  return {
    specificationVersion: "v4",
    transformParams: async ({ params }) => ({ ...params, headers: { ...params.headers, ...own } }),
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      const { response, providerMetadata } = result;
      return { ...result, ...noted(response?.headers, response?.id, providerMetadata) };
    },
    wrapStream: async ({ doStream }) => {
      const { stream, response, ...rest } = await doStream();
      let id: string | undefined;
      const notes = new TransformStream<Part, Part>({
        transform(part, out) {
          if (part.type === "response-metadata") id = part.id ?? id;
          out.enqueue(
            part.type === "finish"
              ? { ...part, ...noted(response?.headers, id, part.providerMetadata) }
              : part,
          );
        },
      });
      return { ...rest, ...(response ? { response } : {}), stream: stream.pipeThrough(notes) };
    },
  };
}

type Streamed = Awaited<ReturnType<NonNullable<LanguageModelV4Middleware["wrapStream"]>>>["stream"];
type Part = Streamed extends ReadableStream<infer P> ? P : never;

/** Uses the gateway's header, since some providers make up their own response ids. */
function noted(
  headers: Readonly<Record<string, string>> | undefined,
  id: string | undefined,
  providerMetadata: SharedV4ProviderMetadata | undefined,
): { readonly providerMetadata?: SharedV4ProviderMetadata } {
  const response = headers?.["x-whetstone-response"] ?? id;
  if (response === undefined) return providerMetadata ? { providerMetadata } : {};
  const session = headers?.["x-whetstone-session"];
  const whetstone = {
    response,
    ...(session === undefined ? {} : { session: decoded(session) }),
  };
  return { providerMetadata: { ...providerMetadata, whetstone } };
}

/** Percent-encodes a name, since headers hold ASCII only and a call must not fail because of a name. */
const encoded = (name: string): string =>
  /^[\x20-\x24\x26-\x7e]*$/.test(name) ? name : encodeURIComponent(name);

function decoded(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}
