/** Check of the GPUs themselves: each one answers, or the cause why it does not. */

import { capitalized } from '../base/format.ts';
import { failedReadings, goneGpus, unreachableGpus } from '../memory/device-health.ts';
import type { Snapshot } from '../types/index.ts';
import { type Check, fail, pass, skip, warn } from './check.ts';

export const deviceChecks: readonly Check[] = [
  {
    id: 'gpu.state',
    title: 'Every GPU answers',
    needs: ['cuda', 'nvml'],
    run({ snapshot }) {
      const evidence = evidenceOf(snapshot);
      const broken = goneGpus(snapshot) ?? unreachableGpus(snapshot);
      if (broken !== null) return fail(broken.text, evidence, remedyOf(broken.next));
      const partly = failedReadings(snapshot);
      if (partly !== null) return warn(partly.text, evidence, remedyOf(partly.next));
      const count = snapshot.devices.length;
      if (count === 0) return skip('There is no GPU to ask.', snapshot.noDevices ?? 'no device');
      return pass(count === 1 ? 'The GPU answers.' : `All ${count} GPUs answer.`, evidence);
    },
  },
];

function remedyOf(clause: string | null): string | null {
  return clause === null ? null : `${capitalized(clause)}.`;
}

function evidenceOf({ devices, libraries }: Snapshot): string {
  const failures = devices.flatMap((device) => device.failures.map(({ reason }) => `GPU ${device.index}: ${reason}`));
  const refusals = [libraries.cuda.failure, libraries.nvml.failure].flatMap((failure) =>
    failure === null ? [] : [failure.reason],
  );
  if (failures.length + refusals.length > 0) return [...failures, ...refusals].join('; ');
  return devices.map(({ index, name }) => `GPU ${index} ${name ?? 'unnamed'}`).join(', ');
}
