import { comesNearItsBestReply, itself } from "../../../../test/method/objective/preferences.ts";
import { inpo } from "./method.ts";

comesNearItsBestReply(inpo, itself, 128, 15);
