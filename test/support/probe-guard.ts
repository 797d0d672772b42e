/** The guard of a probe in programs that run the binary: `guard({ floorBytes, … })`. */

import type { ProbeRules } from '../../lib/core/native/contract.ts';

export const PROBE_RULES: ProbeRules = {
  floorBytes: 0,
  pressureFullPercent: 0,
  parent: 0,
  exitAfterMs: 0,
  reportFd: -1,
};

export const GUARD = `const guard = (rules = {}) => b.guardStart({ ...${JSON.stringify(PROBE_RULES)}, ...rules });`;
