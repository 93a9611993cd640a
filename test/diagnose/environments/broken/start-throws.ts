import { parcels } from "../parcels.ts";

export default parcels({
  start: async () => {
    throw new Error("no database");
  },
});
