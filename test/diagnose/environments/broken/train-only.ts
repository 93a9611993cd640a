import { parcels, tasksBetween } from "../parcels.ts";

export default parcels({ splits: ["train"], tasks: () => tasksBetween(0, 24) });
