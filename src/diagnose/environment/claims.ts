/** Tries what an environment claims: equal seeds give equal episodes, and declared abilities work. */

import { counted } from "../../common/text/counted.ts";
import type { Finding } from "../../core/finding.ts";
import type { Random } from "../../core/random.ts";
import type { Ability, Environment } from "../../env/environment.ts";
import { failureOf, hasSucceeded, type PlayedBy, type PlayerName, playersOf, streamOf } from "./players.ts";
import { playRecorded, type RecordedEpisode, same } from "./recorded.ts";

const claim = (severity: Finding["severity"], problem: string, fix: string): Finding => ({
  check: "claims",
  severity,
  problem,
  fix,
});

const abilities: readonly Ability[] = ["replay", "stateKey", "expert", "legal"];

/** What can be seen from the declaration alone. */
export function declaredFindings({ abilities: declared, expert }: Environment): Finding[] {
  const findings: Finding[] = [];
  for (const ability of declared) {
    if (!abilities.includes(ability)) {
      findings.push(
        claim("error", `There is no ability "${ability}".`, `Abilities are ${abilities.join(", ")}.`),
      );
    }
  }
  if (declared.has("expert") && !expert) {
    findings.push(
      claim(
        "error",
        "The ability expert is declared, and there is no `expert` player.",
        "Add `expert`, or take the ability out.",
      ),
    );
  }
  return findings;
}

/** What can be seen from episodes that were played once. */
export function playedFindings({ abilities: declared }: Environment, all: readonly PlayedBy[]): Finding[] {
  const findings: Finding[] = [];
  const ended = all.flatMap(({ episodes }) => episodes).filter((e) => failureOf(e) === undefined);
  const seen = ended.flatMap(({ observations }) => observations);
  const never = (ability: Ability, field: "stateKey" | "legal"): void => {
    if (!declared.has(ability) || seen.length === 0 || seen.some((o) => o[field] !== undefined)) return;
    findings.push(
      claim(
        "error",
        `The ability ${ability} is declared, and no observation has \`${field}\`.`,
        `Give observations their \`${field}\`, or take the ability out.`,
      ),
    );
  };
  never("stateKey", "stateKey");
  never("legal", "legal");
  findings.push(...refusals(all), ...(declared.has("expert") ? expertFindings(all) : []));
  return findings;
}

const refusal = /\b(illegal|invalid|not (legal|allowed|valid))\b/i;

/** The random player takes legal actions alone wherever any are listed. */
function refusals(all: readonly PlayedBy[]): Finding[] {
  const random = all.find(({ player }) => player === "random");
  const ended = random?.episodes.filter((e) => failureOf(e) === undefined) ?? [];
  for (const { task, observations, actions, steps } of ended) {
    const at = steps.findIndex(
      ({ text, end }, turn) =>
        observations[turn]?.legal?.includes(actions[turn]!) &&
        refusal.test(`${text ?? ""} ${end?.kind === "done" && !end.success ? end.reason : ""}`),
    );
    if (at < 0) continue;
    const { text, end } = steps[at]!;
    const said = text ?? (end?.kind === "done" ? end.reason : "");
    return [
      claim(
        "error",
        `"${actions[at]}" was listed as legal in task "${task.id}", and refused: "${said}".`,
        "List as `legal` only what act() accepts in this state.",
      ),
    ];
  }
  return [];
}

function expertFindings(all: readonly PlayedBy[]): Finding[] {
  const played = all.find(({ player }) => player === "expert")?.episodes ?? [];
  const ended = played.filter((e) => failureOf(e) === undefined);
  const lost = ended.filter((e) => !hasSucceeded(e));
  const thrown = played.filter(({ threw }) => threw !== undefined);
  return [...thrownFindings(thrown, played.length), ...lostFindings(lost, ended.length)];
}

function thrownFindings([first, ...more]: readonly RecordedEpisode[], of: number): Finding[] {
  if (first === undefined) return [];
  const said = first.threw!.replace(/\.$/, "");
  return [
    claim(
      "warning",
      `expert() threw: ${said} (in ${1 + more.length} of ${counted(of, "task")}, first in "${first.task.id}").`,
      "Correct the expert, or take it and its ability out.",
    ),
  ];
}

function lostFindings(lost: readonly RecordedEpisode[], of: number): Finding[] {
  if (lost.length === 0) return [];
  const first = lost[0]!;
  const said = first.actions.map((a) => JSON.stringify(a.slice(0, 40))).join(", ");
  return [
    claim(
      "warning",
      `The expert fails in ${lost.length} of ${counted(of, "task")}, first in "${first.task.id}", saying ${said || "nothing"}.`,
      "An expert solves every task: correct it, the reward, or limits.turns; where the task cannot be solved, take it out.",
    ),
  ];
}

/** Episodes of each player that are played again. */
const mostRepeated = 2;

/** Plays a few episodes again: with the same streams, and where replay is declared with others. */
export async function repeatedFindings(
  environment: Environment,
  all: readonly PlayedBy[],
  random: Random,
): Promise<Finding[]> {
  const actors = new Map(playersOf(environment));
  const findings = new Map<string, Finding>();
  for (const { player, episodes } of all) {
    for (const first of episodes.filter((e) => failureOf(e) === undefined).slice(0, mostRepeated)) {
      const actor = actors.get(player)!;
      const again = await playRecorded(environment, first.task, actor, streamOf(random, player, first.task));
      if (!agree(first, again)) {
        findings.set("same", differs(player, first, again));
        continue;
      }
      if (!environment.abilities.has("replay")) continue;
      let turn = 0;
      const repeated = await playRecorded(
        environment,
        first.task,
        () => first.actions[turn++] ?? "",
        random.split("validate", "replay", first.task.id),
      );
      if (!agree(first, repeated)) findings.set("replay", replayDiffers(first, repeated));
    }
  }
  return [...findings.values()];
}

const agree = (a: RecordedEpisode, b: RecordedEpisode): boolean =>
  same(a.observations, b.observations) && same(a.steps, b.steps);

/** The first turn in which two episodes part, in words. */
function parting(a: RecordedEpisode, b: RecordedEpisode): string {
  const turn = a.observations.findIndex(
    (o, i) => !same(o, b.observations[i]) || !same(a.steps[i], b.steps[i]),
  );
  return `turn ${Math.max(0, turn) + 1} of task "${a.task.id}"`;
}

const differs = (player: PlayerName, a: RecordedEpisode, b: RecordedEpisode): Finding =>
  claim(
    "warning",
    `The same task, random stream and ${player} player gave another episode, from ${parting(a, b)}: runs cannot be repeated, and resumed ones change.`,
    "Draw everything random from the `random` that start() gets, or from task.seed; keep no state between episodes.",
  );

const replayDiffers = (a: RecordedEpisode, b: RecordedEpisode): Finding =>
  claim(
    "error",
    `The ability replay is declared, and the same actions led elsewhere, from ${parting(a, b)}: methods that branch would learn from wrong continuations.`,
    "Draw from task.seed alone, not from the episode's stream, or take the ability out.",
  );
