/** The catalogue of methods. */
import { unknownName } from "../core/suggest.ts";
import { methods } from "./catalogue.ts";
import type { Recipe } from "./method.ts";

export * from "./catalogue.ts";
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

/** @throws WhetstoneError `name.unknown`, with the nearest name. */
export function findMethod(id: string, among: readonly Recipe[] = methods): Recipe {
  const found = among.find((m) => m.id === id);
  if (found) return found;
  throw unknownName(
    "method",
    id,
    among.map((m) => m.id),
  );
}
