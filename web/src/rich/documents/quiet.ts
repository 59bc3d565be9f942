import { createContext, useContext } from "react";

/** Whether something lies over the page that alone may be written to: then no document of an agent runs. */
export const QuietContext = createContext(false);
export const useQuiet = (): boolean => useContext(QuietContext);
