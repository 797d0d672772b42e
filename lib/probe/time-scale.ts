import { isFailure } from '../base/facts.ts';
import { native } from '../native/binding.ts';

/** Simulated milliseconds per real one, as the machine's record has it; null on real hardware. */
export function timeScale(simulated: string | null): number | null {
  if (simulated === null) return null;
  const { UMAPROBE_SIM = '', UMAPROBE_SIM_LIBRARY = '' } = native().machineVariables();
  const record = native().simRecord(UMAPROBE_SIM_LIBRARY, UMAPROBE_SIM);
  if (isFailure(record)) return null;
  const { scale } = JSON.parse(record) as { scale?: number };
  return scale ?? null;
}
