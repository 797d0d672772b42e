/** Until the binary has a guard: one that sees nothing. */

import type { NativeBinding, NativeGuard } from '../native.types.ts';

const BLIND: NativeGuard = {
  running: false,
  ticks: 0,
  lowestAvailable: null,
  highestPressure: null,
  cpuMs: 0,
  trip: null,
};

export function withGuard(binding: NativeBinding): NativeBinding {
  if ('guardStart' in binding) return binding;
  return Object.assign(Object.create(binding), {
    guardStart: () => null,
    guardRead: () => BLIND,
    guardStop: () => undefined,
  });
}
