/** The message of a mistake on the command line. */
import { UsageError } from '../../lib/cli/core/usage.ts';

/** Message of the UsageError that a call must throw. */
export function usageErrorOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error('it was not refused');
}
