import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { hearsay } from "./hearsay.ts";

obeysTheLaws(() => hearsay(), { garbage: 0.05 });
