import { createHash } from "node:crypto";
import { parsed } from "../../common/text/toolCalls.ts";
import { type Json, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";
import type { Message } from "../../core/types.ts";
import { type Entry, feedback, type Importer, ignored } from "./entry.ts";
import { invalid } from "./records.ts";

/**
 * Minari episodes as JSON, with the fields of its `EpisodeData` or `EpisodeBuffer`: T actions between T + 1 observations,
 * both texts, and T rewards. An episode becomes a session, each observation a user message and each action a response. Its
 * reward is a signal on that response, split by name if `infos.rewards` has names that add up to it. The observation after
 * the last action belongs to no response and is dropped.
 */
export function minari(file: string): Importer {
  return {
    entries({ value, line }) {
      const row = objectOf(value) ?? {};
      const texts = (name: "observations" | "actions"): readonly string[] => {
        const given = listOf(row[name]);
        if (Array.isArray(row[name]) && given.every((one) => typeof one === "string")) return given;
        throw invalid(
          file,
          line,
          `${name} that are not texts`,
          "a list of texts: an episode of Minari whose spaces are of kind Text",
        );
      };
      const [observations, actions] = [texts("observations"), texts("actions")];
      const rewards = listOf(row.rewards).map((reward) => numberOf(reward));
      if (observations.length !== actions.length + 1 || rewards.length !== actions.length) {
        throw invalid(
          file,
          line,
          `${observations.length} observations, ${actions.length} actions and ${rewards.length} rewards`,
          "one observation more than actions, and as many rewards as actions",
        );
      }
      if (actions.length === 0) return ignored("episode without an action");
      const named = listOf(objectOf(row.infos)?.rewards).map(textOf);
      const session = `minari:${sessionOf(row.id ?? null, textOf(objectOf(row.options)?.id), observations, actions)}`;
      const conversation: Message[] = [];
      return actions.flatMap((action, turn): readonly Entry[] => {
        const observed = observations[turn]!;
        if (observed !== "") conversation.push({ role: "user", content: observed });
        const message: Message = { role: "assistant", content: action };
        const id = `${session}/${turn}`;
        const call: Entry = {
          kind: "response",
          draft: {
            id,
            session,
            // one millisecond apart, so that their order is known
            at: turn,
            ms: 0,
            model: "",
            settings: {},
            prompt: [...conversation],
            choices: [{ message, stop: "eos" }],
            status: "complete",
            tags: {},
          },
        };
        conversation.push(message);
        const paid = Object.entries(paidFor(rewards[turn], named[turn + 1]));
        return [
          call,
          ...paid.map(([name, worth]) =>
            feedback({
              id: `${id}/${name}`,
              kind: "reward",
              channel: name,
              about: [{ response: id }],
              at: turn,
              source: "minari",
              value: worth,
            }),
          ),
        ];
      });
    },
  };
}

/** Our own id for our own episodes; else a hash of the contents, since every dataset numbers its episodes from 0. */
const sessionOf = (number: Json, own: string | undefined, ...said: readonly (readonly string[])[]): string =>
  own ??
  createHash("sha256")
    .update(JSON.stringify([number, ...said]))
    .digest("hex")
    .slice(0, 24);

/** Rewards of one action by name; under a single name if no names add up to the total. */
function paidFor(total: number | undefined, named: string | undefined): Readonly<Record<string, number>> {
  if (total === undefined) return {};
  const entries = Object.entries(objectOf(parsed(named ?? "") ?? null) ?? {}).flatMap(([name, worth]) =>
    typeof worth === "number" ? [[name, worth] as const] : [],
  );
  const sum = entries.reduce((all, [, worth]) => all + worth, 0);
  const isWhole = Math.abs(sum - total) <= 1e-6 * Math.max(1, Math.abs(total));
  return isWhole && (entries.length > 0 || named === "{}") ? Object.fromEntries(entries) : { reward: total };
}
