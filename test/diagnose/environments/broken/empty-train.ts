import { parcels, tasksBetween } from "../parcels.ts";

export default parcels({ tasks: (split) => (split === "train" ? [] : tasksBetween(24, 30)) });
