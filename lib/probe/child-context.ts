/** The context that a loop is given, over the binary and the journal. */

import type { Writer } from '../journal/record.ts';
import type { JournalWriter } from '../journal/writer.ts';
import type { NativeAllocator, NativeBinding } from '../native.types.ts';
import type { ChildContext, HostReading, PlannedStep, StepResult, Stop, Terms } from './context.ts';
import { readHost } from './host-reading.ts';
import type { ChildRequest, Order } from './messages.ts';
import { needsBlocks, stepRefusal } from './step-check.ts';
import { guardWords } from './words.ts';

export interface ContextParts {
  binding: NativeBinding;
  allocator: NativeAllocator;
  terms: Terms;
  run: NonNullable<ChildRequest['journal']>['run'] | null;
  writer: JournalWriter | null;
  self: Writer;
}

/** The context, and the parent's handle to stop it. */
export function childContext(parts: ContextParts): { context: ChildContext; order(what: Order): void } {
  const { allocator, binding, terms } = parts;
  let ordered: Stop | null = null;
  let wake: (() => void) | null = null;

  function stop(): Stop | null {
    const { trip } = binding.guardRead();
    // The guard first: after it nothing is held any more, whatever the caller wanted.
    if (trip !== null) return { why: 'guard', reason: guardWords(trip, terms) };
    return ordered;
  }

  function reading(kind: PlannedStep['kind']): HostReading {
    return readHost(binding, needsBlocks(terms, kind));
  }

  const context: ChildContext = {
    binding,
    allocator,
    terms,
    stop,
    reading,
    async pause(ms) {
      const until = performance.now() + ms;
      // The guard's thread cannot wake this one: it is asked every 20 ms.
      for (let left = ms; left > 0 && stop() === null; left = until - performance.now()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, Math.min(left, 20));
        });
      }
      wake = null;
    },
    check: (step, fresh = reading(step.kind)) => stepRefusal(terms, fresh, step),
    begin({ heldBytes, kind, targetBytes }) {
      const { run, self, writer } = parts;
      if (run === null) return;
      const at = new Date().toISOString();
      writer?.commit({ type: 'step', ...run, at, ...self, kind, heldBytes, targetBytes });
    },
    finish({ heldBytes, state }: StepResult) {
      const { run, writer } = parts;
      if (run === null) return;
      writer?.append({ type: 'result', ...run, at: new Date().toISOString(), state, heldBytes });
    },
  };
  return {
    context,
    order(what) {
      ordered ??= { why: what, reason: what === 'aborted' ? 'aborted by the caller' : 'its time was over' };
      wake?.();
    },
  };
}
