/** Orders: a customer says a part of what they want; the agent asks or offers, and the customer reacts. */
import { sigmoid } from "../../common/statistics/logistic.ts";
import { randomStream } from "../../core/random.ts";
import type { Task, Trajectory } from "../../core/types.ts";
import { critiqueWords, type Part, type Review, templated, wholeAction } from "../../env/critiques.ts";
import {
  alreadyOver,
  defineEnvironment,
  type Environment,
  type Episode,
  type Step,
} from "../../env/environment.ts";
import { moveOf, reactionTexts, reactionTo, slotsSaid, wrongSlots } from "./customer.ts";
import { meanings, orderText, slotNames, slots, splits, tasksOf, wantedIn } from "./menu.ts";
import { expert, flawed } from "./players.ts";

const turnLimit = 4;

/** Chance that a customer who is asked long after a training conversation says the wrong thing of how it went. */
const misremembered = 0.1;

/** Words in which methods of the catalogue speak to a policy: a frozen start knows no others. */
const methodWords =
  "your attempt : it failed . what to do otherwise ? How did this go? These went well badly case plan Answer at once. Think before you answer. Check the answer give it. Look for was asked last. If something failed, try else. Use as few turns can. Lessons beware that";

/** Whether an offer that ends a conversation is what was wanted. */
const isMet = (task: Task, content: string | undefined): boolean => {
  const move = moveOf(content ?? "");
  return move.kind === "offer" && wrongSlots(wantedIn(task).goal, move.order).length === 0;
};

const lastOf = ({ turns }: Trajectory): string | undefined => turns.at(-1)?.action.content;

function start(task: Task): Episode {
  const { goal, trained } = wantedIn(task);
  const said: string[] = task.prompt.map(({ content }) => content);
  const done: string[] = [];
  let news: string | undefined;
  let over = false;

  function act(content: string): Step {
    if (over) return alreadyOver;
    done.push(content.trim());
    // of the conversation so far alone: what is repeated is taken alike, and other attempts meet other moods
    const mood = randomStream(task.seed).split(...done);
    const last = done.length === turnLimit;
    const { text, goes } = reactionTo(moveOf(content), goal, said, last, mood);
    news = text ?? "";
    said.push(news);
    const spoken = text === undefined ? {} : { text };
    over = goes !== undefined || last;
    if (!goes) {
      if (!over) return spoken;
      return { ...spoken, end: { kind: "truncated", limit: "turns", at: turnLimit } };
    }
    const { thumb } = goes;
    // a product sees thumbs; only held-out customers are looked at more closely
    const success = trained ? thumb === 1 : isMet(task, content);
    const reason = text === undefined ? "left without a word" : "left";
    const rewards = trained ? (thumb === undefined ? {} : { outcome: thumb }) : { outcome: Number(success) };
    return { ...spoken, rewards, end: { kind: "done", reason, success } };
  }

  return {
    observe: async () => ({
      role: "agent",
      observation: {
        messages: news === undefined ? [] : [{ role: "user", content: news }],
        stateKey: `${task.id} | ${said.join(" | ")} | ${done.at(-1) ?? ""}`,
      },
    }),
    act: async ({ content }) => act(content),
  };
}

/** A customer's own view of every turn: a question is right while its slot was not said, an offer if it is what they want. */
function review(task: Task, trajectory: Trajectory): Review {
  const { goal } = wantedIn(task);
  const conversation = [...task.prompt];
  const parts = trajectory.turns.slice(0, turnLimit).map(({ action, text = "" }, k): Part => {
    const move = moveOf(action.content);
    const heard = slotsSaid(conversation.flatMap(({ role, content }) => (role === "user" ? [content] : [])));
    const better = expert(task, conversation, randomStream(task.id));
    const good = move.kind === "ask" ? !heard.includes(move.slot) : isMet(task, action.content);
    const others = slotNames.flatMap((slot) => [
      `ask ${slot}`,
      ...slots[slot].map((value) => orderText({ ...goal, [slot]: value })),
    ]);
    conversation.push({ role: "assistant", content: action.content }, { role: "user", content: text });
    return {
      ...wholeAction(k, action.content),
      good,
      name: `step ${k + 1}`,
      better: good ? action.content : better,
      worse: others.filter((other) => other !== better && other !== action.content),
    };
  });
  const arrived = parts.every(({ good }) => good) ? "success" : "inefficient";
  return { outcome: isMet(task, lastOf(trajectory)) ? arrived : "failure", parts };
}

/**
 * Three slots, of which a request leaves out none, one or two; at most four turns. `ask SLOT` is answered by its value, `offer
 * DISH SIZE TIME` by a reaction, see {@link reactionTo}. A training episode pays the thumb as `outcome`, 1 or 0, and nothing
 * where there was none, and is a success where the thumb was up. A held-out episode pays 1 and is a success if the last offer
 * was what the customer wanted. Of training conversations, `verify` is the answer to a question asked long afterwards:
 * everybody answers, one in ten wrongly.
 */
export function orders(): Environment {
  const made = new Map<string, readonly Task[]>(splits.map((split) => [split, tasksOf(split)]));
  const worth = (task: Task, t: Trajectory): number => Number(isMet(task, lastOf(t))) - 0.1 * t.turns.length;
  return defineEnvironment({
    name: "orders",
    summary: "take orders of customers who say a part, react, correct, and leave without a word",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: turnLimit, actionTokens: 5 },
    tasks: (split) => made.get(split) ?? [],
    start: async (task) => start(task),
    vocabulary: () => [
      "ask offer",
      ...meanings.keys(),
      ...reactionTexts,
      ...critiqueWords(turnLimit),
      methodWords,
    ],
    expert,
    flawed,
    critiqueVocabulary: () => critiqueWords(turnLimit),
    critique: async (task, trajectory, request) => templated(review(task, trajectory), request),
    prefer: async (task, first, second) => sigmoid(3 * (worth(task, first) - worth(task, second))),
    async verify(task, trajectory) {
      const met = isMet(task, lastOf(trajectory));
      const told = randomStream(task.seed).split("asked", ...trajectory.turns.map((t) => t.action.content));
      const wrong = wantedIn(task).trained && told.next() < misremembered;
      return { outcome: Number(met !== wrong) };
    },
  });
}
