/** Defaults of the options of guard(); the help texts of the command name them. */

export const DEFAULT_INTERVAL_MS = 10;
export const DEFAULT_GRACE_MS = 5000;
