/** Whether the memory came back, after everything was freed and the process had ended. */
import { formatDuration } from '../../base/format.ts';
import type { Settled } from '../../types/index.ts';
import { both, moved } from '../numbers.ts';
import { dot, type Look } from '../options.ts';
import { clean, hanging } from '../text-layout.ts';

export function settledLines(settled: Settled, look: Look): string[] {
  const { afterMs, missing } = settled;
  const when = settled.settled
    ? `settled after ${formatDuration(afterMs)}`
    : `still moving after ${formatDuration(afterMs)}`;
  const changes = [
    ['MemAvailable', settled.memAvailableChange],
    ['MemFree', settled.memFreeChange],
    ['CUDA free', settled.cudaFreeChange],
  ] as const;
  const against = changes
    .filter(([, bytes]) => bytes !== null)
    .map(([name, bytes]) => `${name} ${moved(bytes, look.unicode)}`)
    .join(dot(look));
  const lines = hanging('Afterwards   ', `${when}${against === '' ? '' : `; against before: ${against}`}`, look.width);
  if (missing === null) return [...lines, `${' '.repeat(13)}all of it came back`];
  return [
    ...lines,
    ...hanging(
      `${' '.repeat(13)}`,
      `${both(missing.bytes)} did not come back: ${clean(missing.explanation)}`,
      look.width,
    ).map((line) => look.paint('warning', line)),
  ];
}
