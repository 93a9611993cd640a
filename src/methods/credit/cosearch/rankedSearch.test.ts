import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { rankedSearch } from "./rankedSearch.ts";

obeysTheLaws(() => rankedSearch(), { garbage: 0.02 });
