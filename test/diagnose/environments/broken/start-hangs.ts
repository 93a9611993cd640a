import { parcels } from "../parcels.ts";

export default parcels({ start: () => new Promise(() => {}) });
