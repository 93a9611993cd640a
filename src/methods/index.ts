/** The catalogue: methods, diagnostics and benchmarks. */
export { catalogue, findEntry, findMethod, methods } from "./catalogue.ts";
