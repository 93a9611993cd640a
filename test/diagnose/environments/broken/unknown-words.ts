import { parcels } from "../parcels.ts";

export default parcels({
  vocabulary: () => ["a parcel has come", "the label says", "north", "south", "west"],
});
