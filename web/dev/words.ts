// For tests: both languages are here at once.
import { learn } from "../src/words/words";

await learn("zh");
