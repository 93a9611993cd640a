import { inquiry } from "../../src/worlds/inquiry.ts";
import { obeysTheLaws } from "../env/laws.ts";

obeysTheLaws(() => inquiry(), { garbage: 0.05 });
