import { leastDeviation, moments, onTop } from "../../../advantage/returns.ts";
import { turnOffsets } from "../../../common/tokens/tokenRanges.ts";
import { present } from "../../../core/errors.ts";
import type { Advantage, AnnotatedExperience, Channels } from "../../../core/slots.ts";
import type { Id, Trajectory, Turn } from "../../../core/types.ts";

/** Settings of {@link hierarchical}. */
export interface HierarchicalOptions {
  /** Channels whose credits are added up. Default: all. */
  readonly channels?: readonly string[];
  /** γ, discount per turn, in [0, 1]. Default 1. */
  readonly discount?: number;
  /** λ within a segment and over segments, in [0, 1]. Default 0.95 each. */
  readonly lambda?: { readonly turns: number; readonly segments: number };
  /** Whether an action gives up its sub-goal. Default: by `<switch>SWITCH</switch>` in its text. */
  readonly switched?: (turn: Turn) => boolean;
}

/** Heads of the critic, which are notes of values and, as `return.<head>`, columns of targets. */
export const hierarchyHeads = ["high", "low", "term"] as const;
type Head = (typeof hierarchyHeads)[number];

/** Numbers of the blocks in the note "block". */
export const hierarchyBlocks = ["switch", "subgoal", "action"] as const;
const [switchBlock, subgoalBlock, actionBlock] = [1, 2, 3];

/**
 * Hierarchical advantage estimation: plans, actions and the decision to switch plans each have their own value head. A
 * segment begins at the first turn and at every switch: turns s … e, d of them; s′ is the next segment's first turn.
 *
 *     low    δ[t] = r[t] + γ V_low[t+1] − V_low[t],  at e: V_high[s′] in the place of V_low[t+1]
 *            A_low[t] = δ[t] + γ λ A_low[t+1], anew in each segment                       on action tokens of every turn
 *     high   δ[k] = Σ_j γ^j r[s+j] + γ^d V_high[s′] − V_high[s]
 *            A_high[k] = δ[k] + γ^d λ A_high[k+1]                         on sub-goal tokens of the segment's first turn
 *     term   G[t] = r[t] + γ G[t+1], at e: V_high[s′] in the place of G[t+1]
 *            A_term[t] = G[t] − V_term[t]                                                 on switch tokens of every turn
 *
 * Values after the last turn are 0. V_high and V_term are read before a turn's first token, V_low before its first action
 * token. A turn without action tokens in the note "block" counts as action as a whole, as one without a switch keeps its
 * plan. Each of the three is brought to mean 0 and deviation 1 over its own turns of the batch; equal ones become 0.
 *
 * Columns: targets A + V, before normalising, where a value was read, NaN elsewhere; the high one at first turns alone.
 * A trajectory without any credit is left out. Stats: segments (per trajectory), switches (share of the turns).
 * Paper: "HiPER: Hierarchical Reinforcement Learning with Explicit Credit Assignment for Large Language Model Agents".
 */
export function hierarchical(options: HierarchicalOptions = {}): Advantage<null> {
  return {
    name: "hierarchical",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const members = new Set(annotated.units.flatMap((u) => u.members));
      const told = annotated.trajectories.flatMap((t) => {
        const reward = members.has(t.id) ? rewardsOf(t, annotated.channels, options) : undefined;
        return reward ? [{ t, estimates: estimatesOf(t, reward, annotated.notes, options) }] : [];
      });
      const scales = Object.fromEntries(
        hierarchyHeads.map((head) => {
          const own = told.flatMap(({ estimates }) => estimates.filter((e) => e.head === head));
          return [head, moments(own.map((e) => e.advantage))];
        }),
      );
      const advantages = new Map<Id, Float32Array>();
      const targets = new Map(hierarchyHeads.map((head) => [head, new Map<Id, Float32Array>()]));
      let segments = 0;
      let turns = 0;
      for (const { t, estimates } of told) {
        const total = turnOffsets(t).at(-1)!;
        const advantage_A = new Float32Array(total);
        for (const head of hierarchyHeads)
          targets.get(head)!.set(t.id, new Float32Array(total).fill(Number.NaN));
        for (const { head, advantage, value, readAt, tokens } of estimates) {
          const { mean, deviation } = scales[head]!;
          const scaled = deviation === 0 ? 0 : (advantage - mean) / Math.max(deviation, leastDeviation);
          for (const a of tokens) advantage_A[a] = scaled;
          targets.get(head)!.get(t.id)![readAt] = advantage + value;
          if (head === "high") segments++;
          if (head === "low") turns++;
        }
        advantages.set(t.id, advantage_A);
      }
      const stats =
        turns > 0 ? { segments: segments / told.length, switches: (segments - told.length) / turns } : {};
      return {
        advantages: onTop(advantages, soFar),
        columns: Object.fromEntries(hierarchyHeads.map((head) => [`return.${head}`, targets.get(head)!])),
        next: null,
        stats,
      };
    },
  };
}

/** One advantage, where its value was read, and the tokens that it is for. */
interface Estimate {
  readonly head: Head;
  readonly advantage: number;
  readonly value: number;
  readonly readAt: number;
  readonly tokens: readonly number[];
}

/** A turn with its tokens and its values. */
interface Step {
  readonly reward: number;
  /** First token of the turn, and its first action token, before which the low value is read. */
  readonly first: number;
  readonly act: number;
  readonly begins: boolean;
  readonly tokens: (block: number) => readonly number[];
}

function estimatesOf(
  t: Trajectory,
  reward: Float64Array,
  notes: AnnotatedExperience["notes"],
  options: HierarchicalOptions,
): Estimate[] {
  const { discount = 1, lambda = { turns: 0.95, segments: 0.95 } } = options;
  const note = (name: string): Float32Array =>
    present(notes[name]?.get(t.id), "hierarchical", `note "${name}" of ${t.id}`);
  const values = { high: note("high"), low: note("low"), term: note("term") };
  const steps = stepsOf(t, reward, note("block"), options);
  const out: Estimate[] = [];
  /** Of the next segment: its value, and the advantage of its plan. */
  let later = { value: 0, advantage: 0 };
  let low = { advantage: 0, value: 0 };
  let gain = 0;
  let paid = 0;
  let length = 0;
  for (let k = steps.length - 1; k >= 0; k--) {
    const { reward, first, act, begins, tokens } = steps[k]!;
    const ends = steps[k + 1]?.begins ?? true;
    if (ends) {
      low = { advantage: 0, value: later.value };
      gain = later.value;
      paid = 0;
      length = 0;
    }
    const [high, own, term] = [values.high[first]!, values.low[act]!, values.term[first]!];
    const ahead = reward + discount * low.value - own + discount * lambda.turns * low.advantage;
    low = { advantage: ahead, value: own };
    gain = reward + discount * gain;
    paid = reward + discount * paid;
    length++;
    out.push({ head: "low", advantage: ahead, value: own, readAt: act, tokens: tokens(actionBlock!) });
    out.push({
      head: "term",
      advantage: gain - term,
      value: term,
      readAt: first,
      tokens: tokens(switchBlock!),
    });
    if (!begins) continue;
    const fade = discount ** length;
    const plan = paid + fade * later.value - high + fade * lambda.segments * later.advantage;
    out.push({ head: "high", advantage: plan, value: high, readAt: first, tokens: tokens(subgoalBlock!) });
    later = { value: high, advantage: plan };
  }
  return out;
}

/** The turns that have tokens. */
function stepsOf(
  t: Trajectory,
  reward: Float64Array,
  block_A: Float32Array,
  { switched = saysSwitch }: HierarchicalOptions,
): Step[] {
  const offsets = turnOffsets(t);
  const spoken = t.turns.flatMap((turn, k) => (offsets[k + 1]! > offsets[k]! ? [{ turn, k }] : []));
  return spoken.map(({ turn, k }, i) => {
    const all = Array.from({ length: offsets[k + 1]! - offsets[k]! }, (_, j) => offsets[k]! + j);
    const acts = all.filter((a) => block_A[a] === actionBlock);
    const plain = acts.length === 0;
    return {
      reward: reward[k]!,
      first: offsets[k]!,
      act: acts[0] ?? offsets[k]!,
      begins: i === 0 || switched(turn),
      tokens: (block) => {
        if (plain) return block === actionBlock ? all : [];
        return all.filter((a) => block_A[a] === block);
      },
    };
  });
}

const saysSwitch = ({ action }: Turn): boolean => /<switch>\s*switch\s*<\/switch>/i.test(action.content);

/** Credits by turn, one about a whole trajectory at its last turn; undefined where there are none. */
function rewardsOf(
  t: Trajectory,
  channels: Channels,
  { channels: named }: HierarchicalOptions,
): Float64Array | undefined {
  const own = Object.entries(channels)
    .filter(([name]) => named?.includes(name) ?? true)
    .flatMap(([, credits]) => credits.filter(({ at }) => at.trajectory === t.id));
  if (own.length === 0 || t.turns.length === 0) return undefined;
  const reward = new Float64Array(t.turns.length);
  for (const { at, value } of own) {
    const turn = at.turn ?? t.turns.length - 1;
    if (turn < reward.length) reward[turn]! += value;
  }
  return reward;
}
