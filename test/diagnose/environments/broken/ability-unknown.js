import { parcels } from "../parcels.ts";

export default parcels({ abilities: new Set(["replays"]) });
