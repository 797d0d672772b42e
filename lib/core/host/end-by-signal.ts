/** Ends this process as another one ended. */

import { native } from '../native/binding.ts';

/** Ends this process by the signal, at once, without a core file, which would say nothing about the other. */
export function endBySignal(number: number): never {
  return native().endBySignal(number);
}
