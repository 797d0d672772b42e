/** hwloc's plugins for CUDA and NVML: of 2.9 built with CUDA 11, of 2.12 with CUDA 12. */
import { describe, expect, it } from 'vitest';
import { missingClients, type Release, runClient } from '../support/debian.ts';
import { withMachine } from '../support/machines.ts';

describe.each<[Release, string[]]>([
  ['bookworm', ['h200']],
  ['trixie', ['gb10', 'h200']],
])('hwloc of %s', (release, known) => {
  const missing = missingClients(release);
  const title =
    missing === null ? 'finds the device of %s by both' : `finds the device of %s by both (skipped: ${missing})`;

  it.skipIf(missing !== null).each([
    ['gb10', 'NVIDIA GB10', 125_506_464, 24_576, 48, '', 'GPU-5117ab1e-0000-0000-0000-000000000010'],
    [
      'h200',
      'NVIDIA H200',
      146_591_680,
      61_440,
      132,
      ' NVIDIASerial=1650000000201',
      'GPU-5117ab1e-0000-0000-0000-000000000201',
    ],
  ])(title, async (machine, name, memory, cache, processors, serial, uuid) => {
    // hwloc 2.9 does not know how many cores a processor of compute capability 12.1 has.
    const cores = known.includes(machine) ? ' CUDACoresPerMP=128' : '';
    await withMachine(machine, (simulation) => {
      const args = ['--of', 'console', '--verbose', '--filter', 'io:all'];
      const { code, stdout, stderr } = runClient(simulation, release, 'lstopo-no-graphics', args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      // The depth and the index of an object depend on the other devices of the computer that runs this test.
      const found = stdout.split('\n').map((line) => line.trim().replace(/ L#\d+/, ''));
      expect(found).toContain(
        `Co-Processor(CUDA) (Backend=CUDA GPUVendor="NVIDIA Corporation" GPUModel="${name}" CUDAGlobalMemorySize=${memory} CUDAL2CacheSize=${cache} CUDAMultiProcessors=${processors}${cores} CUDASharedMemorySizePerMP=48) "cuda0"`,
      );
      expect(found).toContain(
        `GPU(NVML) (Backend=NVML GPUVendor="NVIDIA Corporation" GPUModel="${name}"${serial} NVIDIAUUID=${uuid}) "nvml0"`,
      );
    });
  });
});
