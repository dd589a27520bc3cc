/** Always the same, if it is free, so that a tab or a bookmark works again as long as the console runs. */
export const CONSOLE_PORT = 8788
