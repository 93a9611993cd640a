/** One run: what it is, and its curves. */
import { useRoute } from "preact-iso";

export function Run() {
  const { params } = useRoute();
  return <h1>{params.id}</h1>;
}
