// For tests: both languages are here at once.
import { learnAll } from "../src/words/words";

await Promise.all([learnAll("en"), learnAll("zh")]);
