import { parcels, tasksBetween } from "../parcels.ts";

export default parcels({ tasks: async () => tasksBetween(0, 24) });
