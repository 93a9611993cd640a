export { type CriticAdvantagesOptions, criticAdvantages } from "./criticAdvantages.ts";
export { type GoldLikelihoodOptions, goldLikelihood } from "./goldLikelihood.ts";
export { type TeacherOptions, teacher } from "./teacher.ts";
export { type ValuesOptions, values } from "./values.ts";
