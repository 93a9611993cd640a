/** Weights of llama.cpp and its like, which people name where a model of safetensors is meant. */
import { WhetstoneError } from "../../core/errors.ts";

export const isGguf = (file: string): boolean => /\.gguf$/i.test(file);

/** Of a file, or a folder of them. */
export const noGguf = (where: string, from: string): WhetstoneError =>
  new WhetstoneError("model.unsupported", {
    where,
    got: `${from}, which is GGUF`,
    expected: "a model in safetensors, as a folder with its config.json",
    mend: "Take the checkpoint that it was made from: the model's page names it.",
  });
