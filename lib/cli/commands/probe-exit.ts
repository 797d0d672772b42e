/** How a probe ended, as an exit code: see docs/cli.md. */
import type { LayoutReport, StressReport, SweepReport } from '../../types/index.ts';
import { EXIT } from '../core/exit.ts';

/** Where nobody sent a signal it was the caller's own: as if Ctrl-C had been pressed. */
const INTERRUPTED = 130;

/**
 * Steps that were refused because they are too large are what the sweep is for. One that measured nothing at all must not
 * look like one that found all well, though.
 */
export function sweepExit({ state, steps }: SweepReport, signalCode: number | null): number {
  switch (state) {
    case 'complete':
      if (steps.some((step) => step.state === 'failed')) return EXIT.no;
      return steps.some((step) => step.state === 'ok') ? EXIT.fine : EXIT.no;
    case 'aborted':
      return signalCode ?? INTERRUPTED;
    case 'stopped':
    case 'timeout':
      return EXIT.stopped;
    case 'lost':
      return EXIT.no;
  }
}

export function layoutExit({ state }: LayoutReport, signalCode: number | null): number {
  switch (state) {
    case 'complete':
      return EXIT.fine;
    case 'incomplete':
    case 'lost':
      return EXIT.no;
    case 'aborted':
      return signalCode ?? INTERRUPTED;
    case 'stopped':
    case 'timeout':
      return EXIT.stopped;
  }
}

export function stressExit({ state, maxBytes }: StressReport, signalCode: number | null): number {
  switch (state) {
    case 'limit':
    case 'out-of-memory':
      return maxBytes > 0 ? EXIT.fine : EXIT.no;
    case 'floor':
    case 'pressure':
    case 'contiguity':
    case 'timeout':
      return EXIT.stopped;
    case 'aborted':
      return signalCode ?? INTERRUPTED;
    case 'failed':
    case 'lost':
      return EXIT.no;
  }
}
