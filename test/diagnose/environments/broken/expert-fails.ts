import { parcels } from "../parcels.ts";

export default parcels({ expert: () => "south" });
