import { parcels, tasksBetween } from "../parcels.ts";

export default parcels({ tasks: () => tasksBetween(0, 24) });
