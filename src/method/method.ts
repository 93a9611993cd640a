/** A method is its difference from the baseline: {@link method} fills in the rest. */
import { WhetstoneError } from "../core/errors.ts";
import type { Capability } from "../core/model.ts";
import type { FrozenRule, LearnsFrom, MakeHelper, Method, ModelRule, Slots } from "../core/slots.ts";
import type { ModelId } from "../core/types.ts";
import { grpoSlots } from "./baseline.ts";
import { defaultSettings, type Settings, settingsOf } from "./settings.ts";

/** Slots as an author writes them: one piece or a list. Naming a slot replaces the baseline's choice. */
export type SlotChoices = {
  readonly [S in keyof Slots]?: Slots[S] extends readonly (infer Piece)[]
    ? Piece | readonly Piece[]
    : Slots[S];
};

/** A method as its author declares it. */
export interface Difference {
  /** Id of the method in the catalogue; the docs link its paper. */
  readonly id: string;
  readonly family: string;
  /** One line for lists, under 100 characters. */
  readonly summary: string;
  /** Title of the paper. */
  readonly paper?: string;
  /** How it works and why that should help, in two to five sentences. */
  readonly mechanism?: string;
  /** The mathematics that differ from the baseline, as plain text, one formula per line, with every symbol defined. */
  readonly equation?: string;
  /** Source of defaults and constants: the paper, its code, or Whetstone. */
  readonly source?: string;
  /** The method that it is checked against. Default "grpo". */
  readonly baseline?: string;
  /** Capabilities that it needs beyond sampling tokens and training. */
  readonly needs?: readonly Capability[];
  /** The training examples that it learns from in place of play. Default: conversations with their rewards. */
  readonly learnsFrom?: LearnsFrom;
  /** It learns without weights: any chat model works. */
  readonly weightFree?: true;
  /** Texts that its pieces send to the policy, such as instructions; an empty list where they send critiques alone. */
  readonly says?: readonly string[];
  /** Defaults that this method changes. */
  readonly defaults?: Partial<Settings>;
  readonly frozen?: Readonly<Record<string, FrozenRule>>;
  readonly models?: Readonly<Record<ModelId, ModelRule>>;
  readonly helpers?: Readonly<Record<string, MakeHelper>>;
  /** The slots that differ; a function of the settings where a piece depends on them. */
  readonly slots: SlotChoices | ((settings: Settings) => SlotChoices);
  /** Slots that differ for some iterations only; a function of the settings where a piece depends on them. */
  readonly phases?: readonly Phase[] | ((settings: Settings) => readonly Phase[]);
}

/** Slots that replace others from iteration `from` on, and before iteration `until` where that is set. */
export interface Phase {
  readonly name: string;
  readonly from: number;
  readonly until?: number;
  readonly slots: SlotChoices;
}

/** A method before its settings are known: a row of the catalogue. */
export interface Recipe extends Omit<Difference, "slots" | "phases" | "defaults"> {
  /** A diagnostic tests a law and trains nothing. */
  readonly kind: "method" | "diagnostic";
  /** For a diagnostic: the prediction that it tests. One sentence. */
  readonly law?: string;
  readonly needs: readonly Capability[];
  /** Default settings. */
  readonly defaults: Settings;
  /** Names of the slots that differ from the baseline. */
  readonly differs: readonly (keyof Slots)[];
  /**
   * Builds the method with a run's settings.
   * @throws WhetstoneError `config.invalid` for a diagnostic, `option.unknown` for a setting that does not exist, `option.range` for an impossible value.
   */
  build(settings?: Partial<Settings>): Method;
}

/**
 * @example
 * export const rloo = method({
 *   id: "rloo", family: "advantage", summary: "leave-one-out baseline",
 *   slots: { advantage: leaveOneOut() },
 * });
 */
export function method(difference: Difference): Recipe {
  const { slots, phases, defaults: changed, needs: asked = [], ...about } = difference;
  const defaults = settingsOf({ ...defaultSettings, ...changed });
  const usual: readonly Capability[] = about.weightFree ? [] : ["tokens", "logp", "train"];
  const needs: readonly Capability[] = [...new Set([...usual, ...asked])];
  const chosen = (settings: Settings): SlotChoices => (typeof slots === "function" ? slots(settings) : slots);
  const phasesOf = (settings: Settings): readonly Phase[] =>
    typeof phases === "function" ? phases(settings) : (phases ?? []);
  return {
    ...about,
    kind: "method",
    needs,
    defaults,
    differs: slotNames.filter((name) => chosen(defaults)[name] !== undefined),
    build: (over = {}) => {
      const settings = settingsOf({ ...defaults, ...over });
      return {
        ...about,
        needs,
        slots: { ...grpoSlots(settings), ...asLists(chosen(settings)) },
        ...(phases ? { phases: phasesOf(settings).map((p) => ({ ...p, slots: asLists(p.slots) })) } : {}),
      };
    },
  };
}

/** A diagnostic as its author declares it. Its mathematics is in `src/diagnose`, its measurement in its check. */
export interface Diagnosis
  extends Pick<Difference, "id" | "family" | "summary" | "paper" | "mechanism" | "equation" | "source"> {
  readonly law: string;
}

/** A diagnostic of the catalogue: its check tests a law; it is never trained. */
export function diagnostic(about: Diagnosis): Recipe {
  return {
    ...about,
    kind: "diagnostic",
    needs: [],
    defaults: defaultSettings,
    differs: [],
    build: () => {
      throw new WhetstoneError("config.invalid", {
        where: `method "${about.id}"`,
        got: "a diagnostic, which tests a law",
        expected: "a method, which can be trained",
        fix: `Run whetstone check ${about.id} to test the law, or choose a method.`,
      });
    },
  };
}

/** Names of all slots, in the order in which an iteration uses them. */
export const slotNames = [
  "data",
  "rollout",
  "annotate",
  "feedback",
  "credit",
  "advantage",
  "objective",
  "update",
] as const satisfies readonly (keyof Slots)[];

const listed = <Piece>(piece: Piece | readonly Piece[]): readonly Piece[] =>
  isList(piece) ? piece : [piece];

function isList<Piece>(piece: Piece | readonly Piece[]): piece is readonly Piece[] {
  return Array.isArray(piece);
}

function asLists({
  data,
  rollout,
  annotate,
  feedback,
  credit,
  advantage,
  objective,
  update,
}: SlotChoices): Partial<Slots> {
  return {
    ...(data ? { data } : {}),
    ...(rollout ? { rollout } : {}),
    ...(annotate ? { annotate: listed(annotate) } : {}),
    ...(feedback ? { feedback: listed(feedback) } : {}),
    ...(credit ? { credit: listed(credit) } : {}),
    ...(advantage ? { advantage: listed(advantage) } : {}),
    ...(objective ? { objective: listed(objective) } : {}),
    ...(update ? { update } : {}),
  };
}
