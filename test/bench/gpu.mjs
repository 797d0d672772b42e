import { spawnSync } from 'node:child_process';

/** Whether there is a GPU with a driver that answers. */
export function hasNvidiaSmi() {
  const { status, stdout } = spawnSync('nvidia-smi', ['-L'], { encoding: 'utf8' });
  return status === 0 && stdout.includes('GPU 0');
}
