import { parcels } from "../parcels.ts";

const { lexicon: _, ...rest } = parcels();
export default rest;
