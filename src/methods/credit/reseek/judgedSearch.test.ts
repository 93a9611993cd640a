import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { judgedSearch } from "./judgedSearch.ts";

obeysTheLaws(() => judgedSearch(), { garbage: 0.15 });
