import { parcels } from "../parcels.ts";

export default parcels({ lexicon: () => ["a parcel has come", "the label says", "north", "south", "west"] });
