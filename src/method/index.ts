/** Building blocks of methods. */
export type { About } from "./about.ts";
export {
  type Benchmark,
  benchmark,
  type CatalogueEntry,
  type Diagnostic,
  diagnostic,
} from "./entry.ts";
export { type Difference, method, type Recipe, type SlotChoices, slotNames } from "./method.ts";
export type {
  ChoiceOption,
  FlagOption,
  NumberOption,
  Option,
  Options,
  OptionValues,
} from "./options.ts";
export { defaultSettings, type Settings, settingRows } from "./settings.ts";
