/** Questions that want one code of four words; what is wrong with a reply is said, as in "not w3 at 2 , w1 at 4". */
import { codewords } from "../../src/env/index.ts";

export default codewords({ questions: 40, same: true, says: true, length: 4, vocabulary: 6 });
