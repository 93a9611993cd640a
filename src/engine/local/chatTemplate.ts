/** A checkpoint's chat template: conversations as text, rendered within bounds of time. */
import { createContext, Script } from "node:vm";
import { Template } from "@huggingface/jinja";
import { jsonOrText } from "../../common/text/toolCalls.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Message, Tool } from "../../core/types.ts";
import type { TokenizerFiles } from "./tokenizer.ts";

/** Stands for a reply in a rendered conversation. */
const reply = "\u{fdd2}";

function refused(e: unknown): WhetstoneError {
  return new WhetstoneError("template.failed", {
    where: "chat template",
    got: messageOf(e),
    expected: "a template that takes the conversation",
    fix: "Give the messages in roles and an order that the model was trained on, or put another chat_template.jinja into the checkpoint's folder.",
    cause: e,
  });
}

/** A fixed date for all runs: today's date would make prompts differ from day to day. It is Llama's own fallback. */
const clock: Readonly<Record<string, string>> = {
  "%d": "26",
  "%-d": "26",
  "%e": "26",
  "%m": "07",
  "%b": "Jul",
  "%B": "July",
  "%y": "24",
  "%Y": "2024",
  "%a": "Fri",
  "%A": "Friday",
  "%H": "00",
  "%M": "00",
  "%S": "00",
};
/** The template engine's clock can only be replaced from within a template; the empty text keeps a first newline. */
const clockFirst = "{% set strftime_now = fixed_clock %}{{ '' }}";
const strftime = (format: string): string => format.replaceAll(/%-?[a-zA-Z]/g, (code) => clock[code] ?? code);

/** Milliseconds for rendering one conversation: a template's loops may never end. One that fills the longest context takes well under 1 s. */
const longest = 3000;

let running: () => string = () => "";
let rendered = "";
const bounded = createContext({
  run() {
    rendered = running();
  },
});
const boundedRun = new Script("run()");

/** Calls `render`; a timeout of the script around it covers everything that it calls. @throws WhetstoneError `template.failed` on a timeout. */
function withinTime(render: () => string): string {
  running = render;
  try {
    boundedRun.runInContext(bounded, { timeout: longest });
  } catch (e) {
    // an error of another realm is not an instance of this realm's Error
    const { code } = (e ?? {}) as { readonly code?: string };
    if (code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw e;
    throw new Error(`no result within ${longest / 1000} s`);
  }
  return rendered;
}

/** A tool in the form that chat templates expect. */
export const toolAsTemplateSees = ({ name, description, parameters }: Tool): Json => ({
  type: "function",
  function: { name, description, parameters },
});

/** A message in the form that chat templates expect. */
export function asTemplateSees(m: Message): Json {
  return {
    role: m.role,
    content: m.content,
    ...(m.name === undefined ? {} : { name: m.name }),
    ...(m.toolCallId === undefined ? {} : { tool_call_id: m.toolCallId }),
    ...(m.toolCalls && m.toolCalls.length > 0
      ? {
          // templates want arguments as an object; kept as text if the model did not write one
          tool_calls: m.toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: jsonOrText(call.arguments) },
          })),
        }
      : {}),
  };
}

/** A checkpoint's template. All functions throw `template.failed` for a conversation that the template rejects, or takes too long to render. */
export interface ChatTemplate {
  /** The whole conversation. @param asking whether a generation prompt follows. */
  render(messages: readonly Json[], asking: boolean, offers?: { readonly tools: Json }): string;
  /** The text between a reply and the end of the next generation prompt, when `messages` follow the reply. */
  afterReply(messages: readonly Json[], asking: boolean): string;
  /** The text between a last reply and the end. */
  closing(): string;
}

/**
 * @param tokens the special tokens that templates name, such as `bos_token`; those without a text are left out.
 * @throws WhetstoneError `template.failed` without a template, or when it cannot be parsed.
 */
export function chatTemplate(
  files: Pick<TokenizerFiles, "template" | "variables">,
  tokens: Readonly<Record<string, string | null | undefined>>,
): ChatTemplate {
  if (files.template === undefined) {
    throw new WhetstoneError("template.failed", {
      where: "chat template",
      got: "none",
      expected: "a chat_template.jinja file, or `chat_template` in tokenizer_config.json",
      fix: "Choose the instruction-tuned variant of the checkpoint, or put a chat_template.jinja into its folder.",
    });
  }
  let template: Template;
  try {
    template = new Template(clockFirst + files.template);
  } catch (e) {
    // the parser reads on behind the last token
    throw refused(e instanceof TypeError ? new Error("a template that ends too early", { cause: e }) : e);
  }
  const fixed = {
    ...Object.fromEntries(Object.entries(tokens).filter(([, token]) => typeof token === "string")),
    // other implementations always pass these, and templates test them
    tools: null,
    documents: null,
    fixed_clock: strftime,
    ...files.variables,
  };
  const render: ChatTemplate["render"] = (messages, asking, offers) => {
    try {
      return withinTime(() =>
        template.render({ ...fixed, ...offers, messages, add_generation_prompt: asking }),
      );
    } catch (e) {
      throw refused(e);
    }
  };
  const afterReply: ChatTemplate["afterReply"] = (messages, asking) => {
    const conversation = [{ role: "user", content: "?" }, { role: "assistant", content: reply }, ...messages];
    const rendered = render(conversation, asking);
    const at = rendered.lastIndexOf(reply);
    if (at < 0) throw refused(new Error("a template that leaves out replies"));
    return rendered.slice(at + reply.length);
  };
  return { render, afterReply, closing: () => afterReply([], false) };
}
