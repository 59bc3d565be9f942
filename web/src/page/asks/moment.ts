/** Milliseconds for which a question must have been seen in its place before it can be answered. A key or a click that
 * comes earlier was meant for something else. */
export const GUARD = 500;
