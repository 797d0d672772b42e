/** What guard() does where an option is missing; the help texts of the command say so. */

export const DEFAULT_INTERVAL_MS = 10;
export const DEFAULT_GRACE_MS = 5000;
