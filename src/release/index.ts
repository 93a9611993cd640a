export { type Assignment, assign, unitOf } from "./split.ts";
