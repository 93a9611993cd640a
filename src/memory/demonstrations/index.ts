/** Successful episodes as examples in the prompt. */
export { type BootstrapOptions, bootstrapped, demonstrationsKey, exampleOf } from "./bootstrap.ts";
