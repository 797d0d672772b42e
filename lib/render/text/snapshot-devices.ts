/** NVIDIA's libraries: which were opened, and why one was not. */
import type { LibraryStatus, Snapshot } from '../../types/index.ts';
import { dot, type Look } from '../options.ts';
import type { Style } from '../paint.ts';
import { clean, joinThatFits, padEnd, truncate } from '../text-layout.ts';
import { withoutCode } from './reason.ts';

const STYLES: Readonly<Record<LibraryStatus['state'], Style>> = {
  loaded: 'ok',
  missing: 'dim',
  unusable: 'warning',
  timeout: 'danger',
};

export function libraries(snapshot: Snapshot, look: Look): string[] {
  const { cuda, nvml } = snapshot.libraries;
  const simulated = snapshot.simulated !== null;
  return [line('CUDA', cuda, simulated, look), line('NVML', nvml, simulated, look)];
}

function line(name: string, status: LibraryStatus, simulated: boolean, look: Look): string {
  const room = look.width - 12 - status.state.length;
  const reason = why(status);
  const words = reason === null ? joinThatFits(facts(status, simulated), dot(look), room) : truncate(reason, room);
  return `${padEnd(name, 10)}${look.paint(STYLES[status.state], status.state)}  ${words}`;
}

function facts({ version, driverVersion, path }: LibraryStatus, simulated: boolean): string[] {
  // On a simulated machine the path is the simulator's, whatever library is meant.
  const parts = [version, driverVersion === null ? null : `driver ${driverVersion}`, simulated ? null : path];
  return parts.filter((part) => part !== null).map(clean);
}

function why({ state, reason }: LibraryStatus): string | null {
  // A loader's message has a line for each path.
  if (state === 'missing') return 'not installed; --json has every path that was tried';
  return reason === null ? null : withoutCode(reason);
}
