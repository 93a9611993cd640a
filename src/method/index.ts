/** Building blocks of methods. */
export {
  type Diagnosis,
  type Difference,
  diagnostic,
  method,
  type Recipe,
  type SlotChoices,
  slotNames,
} from "./method.ts";
export { defaultSettings, type Settings, settingRows } from "./settings.ts";
