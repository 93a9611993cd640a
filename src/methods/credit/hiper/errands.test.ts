import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { errands } from "./errands.ts";

obeysTheLaws(() => errands(), { garbage: 0.02 });
