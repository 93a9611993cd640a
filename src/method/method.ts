/** A method is its difference from the baseline: {@link method} fills in the rest. */
import { WhetstoneError } from "../core/errors.ts";
import type { Capability } from "../core/model.ts";
import type { FrozenRule, LearnsFrom, MakeHelper, Method, ModelRule, Slots } from "../core/slots.ts";
import type { ModelId } from "../core/types.ts";
import type { About } from "./about.ts";
import { grpoSlots } from "./baseline.ts";
import { type Options, type OptionValues, valuesOf } from "./options.ts";
import { defaultSettings, type Settings, settingRows, settingsOf } from "./settings.ts";

/** Slots as an author writes them: one piece or a list. Naming a slot replaces the baseline's choice. */
export type SlotChoices = {
  readonly [S in keyof Slots]?: Slots[S] extends readonly (infer Piece)[]
    ? Piece | readonly Piece[]
    : Slots[S];
};

/**
 * A method as its author declares it.
 * @typeParam O its own options, which `slots` and `phases` get the values of.
 */
export interface Difference<O extends Options = Options> extends About {
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
  /** Built methods that train students inside a run, see `Ctx.learn`; a function where they depend on settings or options. */
  readonly students?:
    | Readonly<Record<string, Method>>
    | ((settings: Settings, options: OptionValues<O>) => Readonly<Record<string, Method>>);
  /** Options of its own, which users may set and tune. No option has the name of a setting. */
  readonly options?: O;
  /** The slots that differ; a function of the settings and of its own options where a piece depends on them. */
  readonly slots: SlotChoices | ((settings: Settings, options: OptionValues<O>) => SlotChoices);
  /** Slots that differ for some iterations only; a function where a piece depends on settings or options. */
  readonly phases?: readonly Phase[] | ((settings: Settings, options: OptionValues<O>) => readonly Phase[]);
}

/** Slots that replace others from iteration `from` on, and before iteration `until` where that is set. */
export interface Phase {
  readonly name: string;
  readonly from: number;
  readonly until?: number;
  readonly slots: SlotChoices;
}

/** A method before its settings are known: an entry of the catalogue. */
export interface Recipe<O extends Options = Options>
  extends Omit<Difference<O>, "slots" | "phases" | "students" | "defaults"> {
  readonly kind: "method";
  readonly needs: readonly Capability[];
  /** Options of its own; {} for none. */
  readonly options: O;
  /** Default settings. */
  readonly defaults: Settings;
  /** Names of the slots that differ from the baseline. */
  readonly differs: readonly (keyof Slots)[];
  /**
   * Builds the method with a run's settings, and values for its own options.
   * @throws WhetstoneError `name.unknown` for a setting or option that does not exist, `option.range` for an impossible value.
   */
  build(settings?: Partial<Settings>, options?: Partial<OptionValues<O>>): Method;
}

/**
 * Completes a method with the choices of the GRPO baseline.
 * @throws WhetstoneError `config.invalid` for an option with the name of a setting, `option.range` for a default outside its range.
 * @example
 * export const rloo = method({
 *   id: "rloo", family: "advantage", summary: "leave-one-out baseline",
 *   slots: { advantage: leaveOneOut() },
 * });
 */
export function method<const O extends Options = Record<never, never>>(difference: Difference<O>): Recipe<O> {
  const { slots, phases, students, defaults: changed, needs: asked = [], options, ...about } = difference;
  const own = options ?? ({} as O);
  const optionsOf = (given: Partial<OptionValues<O>>): OptionValues<O> =>
    valuesOf(`options of method "${about.id}"`, own, given);
  requireOwnNames(about.id, own);
  const defaults = settingsOf({ ...defaultSettings, ...changed });
  const usual: readonly Capability[] = about.weightFree ? [] : ["tokens", "logp", "train"];
  const needs: readonly Capability[] = [...new Set([...usual, ...asked])];
  const chosen = (settings: Settings, values: OptionValues<O>): SlotChoices =>
    typeof slots === "function" ? slots(settings, values) : slots;
  const phasesOf = (settings: Settings, values: OptionValues<O>): readonly Phase[] =>
    typeof phases === "function" ? phases(settings, values) : (phases ?? []);
  const usually = chosen(defaults, optionsOf({}));
  return {
    ...about,
    kind: "method",
    needs,
    options: own,
    defaults,
    differs: slotNames.filter((name) => usually[name] !== undefined),
    build: (over = {}, given = {}) => {
      const settings = settingsOf({ ...defaults, ...over });
      const values = optionsOf(given);
      const choices = chosen(settings, values);
      const { tasks, groupSize, epochs, minibatches } = settings;
      const plain = !phases && !about.models && !about.frozen && planned.every((slot) => !choices[slot]);
      return {
        ...about,
        needs,
        ...(Object.keys(own).length > 0 ? { options: values } : {}),
        slots: { ...grpoSlots(settings), ...asLists(choices) },
        ...(students
          ? { students: typeof students === "function" ? students(settings, values) : students }
          : {}),
        ...(plain ? { plan: { tasks, groupSize, epochs, minibatches } } : {}),
        ...(phases
          ? { phases: phasesOf(settings, values).map((p) => ({ ...p, slots: asLists(p.slots) })) }
          : {}),
      };
    },
  };
}

/** Slots whose baseline plays and trains as the settings say. */
const planned = ["data", "rollout", "annotate", "update"] as const;

/** An option and a setting of one name could not be told apart where they are set. */
function requireOwnNames(id: string, options: Options): void {
  const taken = Object.keys(options).find((name) => name in settingRows);
  if (taken === undefined) return;
  throw new WhetstoneError("config.invalid", {
    where: `method "${id}": options`,
    got: `"${taken}", which is the name of a setting of every method`,
    expected: "a name of its own",
    fix: "Name the option otherwise, or change the setting in `defaults`.",
  });
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
