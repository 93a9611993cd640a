/** GGUF weights (llama.cpp), which users sometimes name where a safetensors model is required. */
import { WhetstoneError } from "../../core/errors.ts";

export const isGguf = (file: string): boolean => /\.gguf$/i.test(file);

/** The error for a GGUF file, or a folder of them. */
export const noGguf = (where: string, from: string): WhetstoneError =>
  new WhetstoneError("model.unsupported", {
    where,
    got: `${from}, which is GGUF`,
    expected: "a model in safetensors, as a folder with its config.json",
    fix: "Use the original checkpoint, which the model's page names.",
  });
