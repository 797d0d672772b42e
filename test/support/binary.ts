/** The binary under test, and the simulator that is built with it. */
import { dirname, join } from 'node:path';
import { load } from '../../lib/core/native/binding.ts';
import { ROOT } from './root.ts';

export const binaryPath = load(ROOT).path;
export const simulatorPath = join(dirname(binaryPath), 'libumasim.so');

/** A sanitizer makes everything several times slower; tests that count repetitions make fewer. */
export const sanitized = /lib[at]san/.test(process.env.LD_PRELOAD ?? '');

/**
 * The thread sanitizer ends a program at a race. It watches the programs only: vitest's own process has races that it
 * reports because Node itself is not instrumented.
 */
export const threadSanitizerEnvironment: NodeJS.ProcessEnv = /libtsan/.test(process.env.LD_PRELOAD ?? '')
  ? {
      TSAN_OPTIONS: `${process.env.TSAN_OPTIONS ?? ''}:halt_on_error=1:exitcode=66:log_path=stderr:suppressions=${join(ROOT, 'native/tsan.supp')}`,
    }
  : {};
