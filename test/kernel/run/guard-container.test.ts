/** `umaprobe guard` in a PID namespace of its own, as in a container, where NVML lists no process of it. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { FIRST_PID_NAMESPACE, pidNamespace } from '../../../lib/core/host/process.ts';
import { CLI, cliEnvironment } from '../../support/cli.ts';
import { compileC } from '../../support/clients.ts';
import { ROOT } from '../../support/root.ts';
import { parseDocument } from '../../support/schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const UNSHARE = ['unshare', '--pid', '--fork', '--mount-proc'];
const cannot = spawnSync(UNSHARE[0] as string, [...UNSHARE.slice(1), 'true']).status !== 0;

describe.skipIf(cannot || pidNamespace() !== FIRST_PID_NAMESPACE)('the GPU memory of a guarded program', () => {
  let nvml: string;

  beforeAll(() => {
    nvml = join(temporaryFolder('nvml'), 'libnvidia-ml.so.1');
    compileC(join(ROOT, 'test/kernel/nvml_empty.c'), nvml, ['-shared', '-fPIC']);
  });

  /** An NVML with a device and no process in use: what the guard makes of it. */
  const peakOf = (prefix: readonly string[]) => {
    const [file, ...args] = [...prefix, process.execPath, CLI, 'guard', '--json', '--', 'sleep', '1.5'];
    const ran = spawnSync(file as string, args, { encoding: 'utf8', env: cliEnvironment({ UMAPROBE_NVML: nvml }) });
    expect([ran.status, ran.stderr]).toEqual([0, '']);
    return (parseDocument(ran.stdout) as unknown as { peak: { groupGpuBytes: number | null } }).peak.groupGpuBytes;
  };

  it('is none where NVML lists no process of it', () => {
    expect(peakOf([])).toBe(0);
  });

  it('is not known in a container, where NVML lists no process whatever it has', () => {
    expect(peakOf(UNSHARE)).toBeNull();
  });
});
