/** Milliseconds for which a question must have been seen in its place before it can be answered. A key or a click that
 * comes earlier was meant for something else. */
export const GUARD = 500;

/** Milliseconds for which a button says that it was pressed too soon. */
export const TOLD = 3000;

/** Milliseconds after which the card says that the server has not answered yet. */
export const SLOW = 3000;
