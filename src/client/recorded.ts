/** AI SDK middleware: calls say whose they are, and their results carry the id that feedback is given by. */
import type { LanguageModelV4Middleware, SharedV4ProviderMetadata } from "@ai-sdk/provider";

export interface RecordedOptions {
  /** Calls of one conversation share it. Default: the gateway tells conversations apart by their messages. */
  readonly session?: string;
  /** A pseudonym of who is talked to. */
  readonly user?: string;
  /** Kinds of feedback that this reply's reader can give: where none comes, silence is data. */
  readonly channels?: readonly string[];
}

/**
 * For `wrapLanguageModel`, around a model whose base URL is that of `whetstone serve`. The id of each response stands in
 * `providerMetadata.whetstone.response`, of a stream in that of its finish.
 */
export function recorded({ session, user, channels }: RecordedOptions = {}): LanguageModelV4Middleware {
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

/** The gateway's own header is right even where a provider makes up ids of its own. */
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

/** Headers hold ASCII alone, and a call must not fail over a name. */
const encoded = (name: string): string =>
  /^[\x20-\x24\x26-\x7e]*$/.test(name) ? name : encodeURIComponent(name);

function decoded(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}
