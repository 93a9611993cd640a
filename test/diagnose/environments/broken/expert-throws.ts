import { parcels } from "../parcels.ts";

export default parcels({
  expert: () => {
    throw new Error("no map of the docks");
  },
});
