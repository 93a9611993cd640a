export { fromExactJson, toExactJson } from "../core/json.ts";
