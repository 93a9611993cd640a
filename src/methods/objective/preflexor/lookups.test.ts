import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { lookups } from "./lookups.ts";

obeysTheLaws(() => lookups(), { garbage: 0.05 });
