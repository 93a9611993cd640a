import { parcels } from "../parcels.ts";

export default parcels({ splits: ["test"] });
