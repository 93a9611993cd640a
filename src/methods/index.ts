/** The catalogue of methods. */
export { findMethod, methods } from "./catalogue.ts";
