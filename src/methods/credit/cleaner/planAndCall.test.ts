import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { planAndCall } from "./planAndCall.ts";

obeysTheLaws(() => planAndCall(), { garbage: 0.05 });
