import { type Chat, unlessFailed } from "../../core/chat.ts";
import { isWhetstoneError } from "../../core/errors.ts";
import type { Message } from "../../core/types.ts";
import { parseTree } from "./parse.ts";
import { narrated } from "./report.ts";
import type { Rewriter, Wish } from "./search.ts";
import { type Grammar, type Node, showTree } from "./tree.ts";

/** Settings of {@link chatRewriter}. */
export interface ChatRewriterOptions {
  /** The agent's goal, and the meaning of facts and skills, in words. */
  readonly task: string;
  /** Number of repairs R: how often an unparseable tree is sent back with the parser's message. Default 3. */
  readonly repairs?: number;
}

/**
 * A language model rewrites the tree from its metrics and a description of its episodes. Even proposals change one place
 * (tactics), odd ones restructure the tree (strategy). An unparseable reply goes back with the parser's message; one that
 * stays unparseable, or a provider failure, gives one proposal less. A spent budget stops the run.
 */
export function chatRewriter(chat: Chat, { task, repairs = 3 }: ChatRewriterOptions): Rewriter {
  return async (wish) => {
    const asked = Array.from({ length: wish.count }, async (_, i): Promise<readonly Node[]> => {
      let messages: readonly Message[] = [{ role: "user", content: question(task, wish, i % 2 === 1) }];
      for (let tried = 0; tried <= repairs; tried++) {
        const { seed } = wish.random.split("proposal", i, tried);
        const reply = await chat.reply({ messages, seed }).catch(unlessFailed);
        if (!reply) return [];
        const read = readTree(reply.message.content, wish.grammar);
        if (typeof read !== "string") return [read];
        messages = [
          ...messages,
          reply.message,
          { role: "user", content: `${read}\nWrite the whole tree again.` },
        ];
      }
      return [];
    });
    return (await Promise.all(asked)).flat();
  };
}

/** The tree in a reply, with or without a code fence; else the parser's message. */
function readTree(reply: string, grammar: Grammar): Node | string {
  const fenced = /```[a-z]*\n([\s\S]*?)```/.exec(reply)?.[1];
  try {
    return parseTree(fenced ?? reply, grammar);
  } catch (e) {
    if (isWhetstoneError(e)) return e.message;
    throw e;
  }
}

function question(task: string, { tree, report, archive, grammar }: Wish, strategic: boolean): string {
  const { nodes = 25, depth = 6 } = grammar.limits ?? {};
  return [
    `Improve the behaviour tree of an agent. ${task}`,
    `A tree has one node a line, children indented by two blanks: "selector" (first child that does not fail), "sequence" (until a child does not succeed), "if FACT", "if not FACT", "do SKILL"${grammar.neural?.length ? ', "neural NAME"' : ""}. Every tick begins at the root. At most ${nodes} nodes and ${depth} levels.`,
    `Facts: ${grammar.facts.join(", ")}.\nSkills: ${grammar.skills.join(", ")}.`,
    ...(grammar.neural?.length ? [`Neural nodes: ${grammar.neural.join(", ")}.`] : []),
    `The tree:\n${showTree(tree)}`,
    `What happened:\n${narrated(report)}`,
    ...archive
      .slice(0, 2)
      .map((kept) => `A tree of before, of utility ${kept.utility.toFixed(2)}:\n${showTree(kept.tree)}`),
    strategic ? "Restructure it where the plan itself is wrong." : "Change the one place that matters most.",
    "Answer with the whole new tree in a fence, and nothing else.",
  ].join("\n\n");
}
