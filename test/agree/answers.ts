/** Every command asked of one machine, as a user would type it. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  DoctorReport,
  ExplainReport,
  FitReport,
  PrepareReport,
  Snapshot,
  StressReport,
} from '../../lib/types/index.ts';
import { umaprobe } from '../support/cli.ts';
import { parseDocument } from '../support/schemas.ts';
import { GiB } from '../support/units.ts';

export interface Answer<Report> {
  code: number | null;
  report: Report;
  stderr: string;
}

export interface Answers {
  snapshot: Snapshot;
  /** The first line of the page: "OK  103.88 GiB (111.54 GB) can be loaded on the GPU." */
  headline: string;
  /** What can be loaded by the snapshot, on the GPU that shares the host's memory, else the first; null: unknown. */
  safe: number | null;
  doctor: Answer<DoctorReport>;
  explain: Answer<ExplainReport>;
  fitSafe: Answer<FitReport> | null;
  fitOver: Answer<FitReport> | null;
  prepareSafe: Answer<PrepareReport> | null;
  prepareOver: Answer<PrepareReport> | null;
  /** Of 256 MiB, which fit wherever anything does. */
  fitSmall: Answer<FitReport>;
  prepareSmall: Answer<PrepareReport>;
  launchSmall: Answer<object>;
  compact: Answer<object>;
  guard: Answer<object>;
  stress: Answer<StressReport | { error: { code: string; message: string } }>;
}

const SMALL = '256MiB';

/** A step that a driver of a fallback or a slow disk makes long; no machine needs more. */
const STRESS_LIMIT = '60s';

export async function answersOf(machine: string, isStatic: boolean): Promise<Answers> {
  const environment = { XDG_STATE_HOME: join(tmpdir(), 'umaprobe-agree'), NO_COLOR: '1' };
  const ask = async <Report>(...args: string[]): Promise<Answer<Report>> => {
    const { code, stderr, stdout } = await umaprobe([...args, '--json', '--sim', machine], environment);
    return { code, report: parseDocument(stdout) as Report, stderr };
  };
  const { report: snapshot } = await ask<Snapshot>('snapshot');
  const page = await umaprobe(['snapshot', '--sim', machine], environment);
  const headline = page.stdout.split('\n').find((line) => /^(OK|NOTE|WARNING|DANGER) /.test(line)) ?? '';
  const device = snapshot.devices.find(({ memoryModel }) => memoryModel === 'unified') ?? snapshot.devices[0];
  const safe = device?.allocatable.safe ?? null;
  const sized = async <Report>(bytes: number | null, ...args: string[]): Promise<Answer<Report> | null> =>
    bytes === null || bytes === 0 ? null : ask<Report>(...args.map((word) => (word === 'N' ? `${bytes}B` : word)));
  const over = safe === null ? null : safe + GiB;
  return {
    snapshot,
    headline,
    safe,
    doctor: await ask('doctor'),
    explain: await ask('explain'),
    fitSafe: await sized(safe, 'fit', '--bytes', 'N'),
    fitOver: await sized(over, 'fit', '--bytes', 'N'),
    prepareSafe: await sized(safe, 'prepare', 'N', '--dry-run'),
    prepareOver: await sized(over, 'prepare', 'N', '--dry-run'),
    fitSmall: await ask('fit', '--bytes', SMALL),
    prepareSmall: await ask('prepare', SMALL, '--dry-run'),
    launchSmall: await launchOf(machine, environment),
    compact: await ask('cache', 'compact'),
    guard: await guardOf(machine, environment),
    // A meminfo that never changes would let the search go on for ever.
    stress: await ask('stress', '--journal', 'none', '--timeout', STRESS_LIMIT, ...(isStatic ? ['--max', '2GiB'] : [])),
  };
}

async function launchOf(machine: string, environment: Record<string, string>): Promise<Answer<object>> {
  const line = ['launch', '--dry-run', '--json', '--bytes', SMALL, '--sim', machine, '--', 'true'];
  const { code, stderr, stdout } = await umaprobe(line, environment);
  return { code, report: parseDocument(stdout), stderr };
}

async function guardOf(machine: string, environment: Record<string, string>): Promise<Answer<object>> {
  const { code, stderr, stdout } = await umaprobe(
    ['guard', '--dry-run', '--json', '--sim', machine, '--', 'true'],
    environment,
  );
  return { code, report: parseDocument(stdout), stderr };
}
