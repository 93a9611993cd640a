import { comesNearItsBestReply, descent, itself } from "../../../../test/method/objective/preferences.ts";
import { nashMirrorProx } from "./method.ts";

comesNearItsBestReply(nashMirrorProx, itself, 16, 80, descent);
