/** The report of `umaprobe doctor`: what each check found. */

export type CheckStatus = 'pass' | 'warn' | 'fail' | 'skip';

/** What a check found. */
export interface Finding {
  status: CheckStatus;
  /** Meaning of the finding, in one or two sentences. */
  cause: string;
  /** The numbers and files behind it. */
  evidence: string;
  /** What to do; null: nothing. */
  remedy: string | null;
}

export interface CheckResult extends Finding {
  /** Stable: scripts may rely on it. */
  id: string;
  title: string;
  /** Time from the start of the reading that the check needs to its finding, in milliseconds. */
  durationMs: number;
}

/** What the checks of a machine found. */
export interface DoctorReport {
  schema: 'umaprobe/doctor/1';
  /** Time at which the kernel was read, ISO 8601, UTC. */
  at: string;
  /** Name of the simulated machine; null on real hardware. */
  simulated: string | null;
  summary: Record<CheckStatus, number>;
  checks: CheckResult[];
}
