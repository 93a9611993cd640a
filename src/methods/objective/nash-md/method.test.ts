import { comesNearItsBestReply, descent, halfway } from "../../../../test/method/objective/preferences.ts";
import { nashMd } from "./method.ts";

comesNearItsBestReply(nashMd, halfway, 16, 80, descent);
