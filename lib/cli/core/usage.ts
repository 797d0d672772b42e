/** A user's mistake on the command line: one line with the value, the expectation and the place to read on. */

export class UsageError extends Error {
  readonly code = 'ERR_USAGE';
  /** Command whose help says more; null: the general help. The mistakes that a command finds get its name in main.ts. */
  command: string | null;

  constructor(message: string, command: string | null = null) {
    super(message);
    this.name = 'UsageError';
    this.command = command;
  }
}
