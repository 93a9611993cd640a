import { parcels, tasksBetween } from "../parcels.ts";

let calls = 0;
export default parcels({ tasks: () => tasksBetween(10 * calls++, 10 * calls) });
