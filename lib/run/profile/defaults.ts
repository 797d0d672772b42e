/** Defaults that the help prints, too. */

/** Lines of `steps` until a trial ends: the first step allocates, the second one is the first with optimizer state. */
export const DEFAULT_STEP_COUNT = 3;

/** 92 GB came back within 5 s (driver 580.178.04); a program that saves a checkpoint takes longer. */
export const DEFAULT_WAIT_MS = 60_000;
