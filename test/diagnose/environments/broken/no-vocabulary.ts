import { parcels } from "../parcels.ts";

const { vocabulary: _, ...rest } = parcels();
export default rest;
