import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { toolCalls } from "./toolCalls.ts";

obeysTheLaws(() => toolCalls(), { garbage: 0.01 });
