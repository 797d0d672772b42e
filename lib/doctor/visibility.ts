/** Check of CUDA_VISIBLE_DEVICES: which GPUs the programs that are started here find. */

import { clean } from '../base/format.ts';
import { goneFailure } from '../memory/device-health.ts';
import { hidesAll, invisibleDevices, mayHideAll, misleadingEntry, variableText } from '../memory/visibility.ts';
import type { DeviceSnapshot } from '../types/index.ts';
import { type Check, pass, skip, warn } from './check.ts';

const SHOW_ALL = 'Unset CUDA_VISIBLE_DEVICES, or name the GPUs that programs should find, by index or UUID.';

export const visibilityChecks: readonly Check[] = [
  {
    id: 'cuda.visible',
    title: 'GPUs that programs started here find',
    needs: ['cuda', 'nvml'],
    run({ snapshot }) {
      const { cudaVisibleDevices, devices } = snapshot;
      const invisible = invisibleDevices(snapshot);
      const evidence = [variableText(snapshot), ...devices.map(describe)].filter((part) => part !== '').join('; ');
      if (mayHideAll(snapshot))
        return warn('CUDA shows no GPU here, and CUDA_VISIBLE_DEVICES may hide some.', evidence, SHOW_ALL);
      if (devices.length === 0) return skip('There is no GPU.', snapshot.noDevices ?? '');
      if (devices.some(({ visible }) => visible === null)) return skip('CUDA could not be asked.', evidence);
      const misleading = misleadingEntry(snapshot);
      if (misleading !== null) return warn(`In CUDA_VISIBLE_DEVICES the entry ${misleading}.`, evidence, SHOW_ALL);
      if (hidesAll(snapshot)) return warn('CUDA_VISIBLE_DEVICES hides every GPU of this machine.', evidence, SHOW_ALL);
      if (invisible.length === 0) return pass('Programs started here find every GPU.', evidence);
      if (invisible.every(({ failures }) => goneFailure(failures) !== null))
        return pass('Programs started here find every GPU that works.', evidence);
      if (cudaVisibleDevices === null)
        return warn(
          'NVML lists a GPU that CUDA does not, and CUDA_VISIBLE_DEVICES is not set.',
          evidence,
          'See the checks permissions and library.cuda; in a container, see which devices it was given.',
        );
      return pass(
        `CUDA_VISIBLE_DEVICES hides ${invisible.length} of ${devices.length} GPUs from programs started here.`,
        evidence,
      );
    },
  },
];

/** "GPU 0 NVIDIA GB10 is CUDA device 0", "GPU 1 NVIDIA H200: CUDA_VISIBLE_DEVICES="0" hides it". */
function describe({ cudaIndex, from, index, name }: DeviceSnapshot): string {
  const gpu = `GPU ${index} ${clean(name ?? 'unnamed')}`;
  return cudaIndex === null
    ? `${gpu}: ${from.visible ?? 'CUDA does not list it'}`
    : `${gpu} is CUDA device ${cudaIndex}`;
}
