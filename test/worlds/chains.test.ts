import { chains } from "../../src/worlds/chains.ts";
import { obeysTheLaws } from "../env/laws.ts";

obeysTheLaws(() => chains(), { garbage: 0.02 });
