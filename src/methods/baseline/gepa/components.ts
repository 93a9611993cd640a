/** The texts of an instruction set that are rewritten one at a time. */
import type { InstructionSet, Origins } from "../../../core/artefact.ts";

const system = "system text";
const prefix = "description of ";

/** Their names: the system text, and the description of each tool. */
export const componentsOf = ({ tools }: InstructionSet): readonly string[] => [
  system,
  ...Object.keys(tools)
    .sort()
    .map((name) => `${prefix}${name}`),
];

export const textIn = ({ system: text, tools }: InstructionSet, component: string): string =>
  component === system ? text : (tools[component.slice(prefix.length)] ?? "");

/** The set with one text replaced. */
export const withText = (
  set: InstructionSet,
  component: string,
  text: string,
  origins: Origins = set.origins,
): InstructionSet =>
  component === system
    ? { ...set, system: text, origins }
    : { ...set, tools: { ...set.tools, [component.slice(prefix.length)]: text }, origins };

/** Total number of characters of all texts. */
export const lengthOf = (set: InstructionSet): number =>
  componentsOf(set).reduce((sum, component) => sum + textIn(set, component).length, 0);
