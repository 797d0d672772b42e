/** The guard of a probe in programs that run the binary: `guard({ floorBytes, … })`, with the rules of lib/core/memory. */

import { probeThresholds } from '../../lib/core/memory/guard-rules.ts';

const RULES = { ...probeThresholds(0, 0), intervalMs: 5, parent: 0, exitAfterMs: 0, reportFd: -1 };
const NEAR_FLOORS = probeThresholds(1, 0).pressureNearBytes;

export const GUARD = `const guard = ({ floorBytes = 0, ...rules } = {}) => b.guardStart({ ...${JSON.stringify(RULES)}, floorBytes,
  pressureNearBytes: floorBytes === 0 ? Number.MAX_SAFE_INTEGER : floorBytes * ${NEAR_FLOORS}, ...rules });`;
