/** Every command asked of one machine, with the words that a user would type. */
import type {
  DoctorReport,
  ExplainReport,
  FitReport,
  PrepareReport,
  Snapshot,
  StressReport,
} from '../../lib/types/index.ts';
import { parseDocument } from '../support/schemas.ts';
import { GiB, MiB } from '../support/units.ts';
import { type Ask, withCommands } from './commands.ts';

export interface CommandAnswer<Report> {
  code: number | null;
  report: Report;
  stderr: string;
}

export interface Answers {
  /** What a process that has just started says. */
  first: Snapshot;
  snapshot: Snapshot;
  /** The first line of the page: "OK  103.88 GiB (111.54 GB) can be loaded on the GPU." */
  headline: string;
  /** What can be loaded by the snapshot, on the GPU that shares the host's memory, else the first; null: unknown. */
  safe: number | null;
  doctor: CommandAnswer<DoctorReport>;
  explain: CommandAnswer<ExplainReport>;
  fitSafe: CommandAnswer<FitReport> | null;
  fitOver: CommandAnswer<FitReport> | null;
  prepareSafe: CommandAnswer<PrepareReport> | null;
  prepareOver: CommandAnswer<PrepareReport> | null;
  /** Of 256 MiB, which fit wherever anything does. */
  fitSmall: CommandAnswer<FitReport>;
  prepareSmall: CommandAnswer<PrepareReport>;
  launchSmall: CommandAnswer<object>;
  compact: CommandAnswer<object>;
  guard: CommandAnswer<object>;
  stress: CommandAnswer<StressReport | { error: { code: string; message: string } }>;
}

const SMALL = '256MiB';

/** A step that a driver of a fallback or a slow disk makes long; no machine needs more. */
const STRESS_LIMIT = '60s';

export function answersOf(machine: string, isStatic: boolean): Promise<Answers> {
  return withCommands(machine, (ask) => allAnswers(ask, isStatic));
}

async function allAnswers(ask: Ask, isStatic: boolean): Promise<Answers> {
  const json = async <Report>(...words: string[]): Promise<CommandAnswer<Report>> => {
    const dashes = words.includes('--') ? words.indexOf('--') : words.length;
    const { code, stderr, stdout } = await ask(...words.slice(0, dashes), '--json', ...words.slice(dashes));
    return { code, report: parseDocument(stdout) as Report, stderr };
  };
  // The context that a first reading may create stays in this process: what follows is compared with a later one.
  const { report: first } = await json<Snapshot>('snapshot');
  const { report: snapshot } = await json<Snapshot>('snapshot');
  const page = await ask('snapshot');
  const headline = page.stdout.split('\n').find((line) => /^(OK|NOTE|WARNING|DANGER) /.test(line)) ?? '';
  const device = snapshot.devices.find(({ memoryModel }) => memoryModel === 'unified') ?? snapshot.devices[0];
  const safe = device?.allocatable.safe ?? null;
  const sized = async <Report>(bytes: number | null, ...words: string[]): Promise<CommandAnswer<Report> | null> =>
    bytes === null || bytes === 0 ? null : json<Report>(...words.map((word) => (word === 'N' ? `${bytes}B` : word)));
  const beyond = (bytes: number) => (safe === null ? null : safe + bytes);
  return {
    first,
    snapshot,
    headline,
    safe,
    doctor: await json('doctor'),
    explain: await json('explain'),
    fitSafe: await sized(safe, 'fit', '--bytes', 'N'),
    fitOver: await sized(beyond(GiB), 'fit', '--bytes', 'N'),
    prepareSafe: await sized(safe, 'prepare', 'N', '--dry-run'),
    prepareOver: await sized(beyond(MiB), 'prepare', 'N', '--dry-run'),
    fitSmall: await json('fit', '--bytes', SMALL),
    prepareSmall: await json('prepare', SMALL, '--dry-run'),
    launchSmall: await json('launch', '--dry-run', '--bytes', SMALL, '--', 'true'),
    guard: await json('guard', '--dry-run', '--', 'true'),
    // A meminfo that never changes would let the search go on for ever.
    stress: await json(
      'stress',
      '--journal',
      'none',
      '--timeout',
      STRESS_LIMIT,
      ...(isStatic ? ['--max', '2GiB'] : []),
    ),
    // Last, because it changes the machine.
    compact: await json('cache', 'compact'),
  };
}
