import { preferenceGame } from "../../src/worlds/preferenceGame.ts";
import { obeysTheLaws } from "../env/laws.ts";

obeysTheLaws(() => preferenceGame(), { garbage: 0.25 });
