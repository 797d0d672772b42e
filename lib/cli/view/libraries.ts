/** NVIDIA's libraries: which were opened, and why one was not. */
import type { LibraryStatus, Snapshot } from '../../types.ts';
import type { Style } from '../paint.ts';
import { clean, joinThatFits, padEnd } from '../text.ts';
import { dot, type Look } from './look.ts';
import { withoutCode } from './reason.ts';

const STYLES: Readonly<Record<LibraryStatus['state'], Style>> = {
  loaded: 'ok',
  missing: 'dim',
  unusable: 'warning',
  timeout: 'danger',
};

export function libraries(snapshot: Snapshot, look: Look): string[] {
  const { cuda, nvml } = snapshot.libraries;
  return [line('CUDA', cuda, look), line('NVML', nvml, look)];
}

function line(name: string, status: LibraryStatus, look: Look): string {
  const state = look.paint(STYLES[status.state], status.state);
  const details = [
    status.version,
    status.driverVersion === null ? null : `driver ${status.driverVersion}`,
    status.reason === null ? null : withoutCode(status.reason),
    status.path,
  ];
  const words = details.filter((part) => part !== null).map(clean);
  return `${padEnd(name, 10)}${state}  ${joinThatFits(words, dot(look), look.width - 12 - status.state.length)}`;
}
