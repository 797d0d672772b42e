/** Checks this machine. */
import { access, constants, readdir, readlink } from 'node:fs/promises';
import { invalidValue } from '../base/arguments.ts';
import { native } from '../native/binding.ts';
import { snapshot } from '../snapshot/index.ts';
import type { Snapshot } from '../types/index.ts';
import type { Check, CheckContext, CheckResult, DoctorReport, Finding } from './check.ts';
import { CHECKS, matching } from './checks.ts';

export type { CheckResult, CheckStatus, DoctorReport } from './check.ts';

export interface DoctorOptions {
  /** Ids or patterns such as "library.*"; all checks when absent. */
  only?: readonly string[];
  skip?: readonly string[];
}

/** A check that takes longer, its reading included, is answered for; the others go on. */
export const CHECK_LIMIT_MS = 3000;
/** For CUDA, NVML and the child together: below that limit, so that a library's silence is told as what it is. */
const READING_LIMIT_MS = 2800;
/** The child starts Node and makes a context, some 100 ms each; with less time than this its silence would mean nothing. */
const CONTEXT_MS = 1000;

export async function doctor(options: DoctorOptions = {}): Promise<DoctorReport> {
  const checks = choose(options);
  const started = performance.now();
  const reading = await read(checks);
  const withContext = checks.some(({ needs }) => needs.includes('context')) ? readContext(reading, started) : null;
  const results = await runChecks(
    checks,
    async ({ needs }) => contextOf(needs.includes('context') && withContext !== null ? await withContext : reading),
    { started },
  );
  const summary = { pass: 0, warn: 0, fail: 0, skip: 0 };
  for (const { status } of results) summary[status]++;
  return { schema: 'umaprobe/doctor/1', at: reading.at, simulated: reading.simulated, summary, checks: results };
}

/** One reading for all checks. Where none asks for CUDA or NVML, neither is waited for. */
function read(checks: readonly Check[]): Promise<Snapshot> {
  const waits = checks.some(({ needs }) => needs.includes('cuda') || needs.includes('nvml'));
  return snapshot({ memGetInfo: 'never', deadlineMs: waits ? READING_LIMIT_MS : 1 });
}

/**
 * The same with cudaMemGetInfo, in what is left of the time. A CUDA that is silent without a context is not asked for
 * one, and where another library has used the time up, CUDA is not blamed for it.
 */
async function readContext(reading: Snapshot, started: number): Promise<Snapshot> {
  const leftMs = Math.round(READING_LIMIT_MS - (performance.now() - started));
  if (reading.libraries.cuda.state !== 'loaded' || leftMs < CONTEXT_MS) return reading;
  return snapshot({ memGetInfo: 'child', deadlineMs: leftMs, childDeadlineMs: leftMs });
}

function contextOf(reading: Snapshot): CheckContext {
  return {
    snapshot: reading,
    readKernelFile: (path) => {
      const [text] = native().readFiles([path]);
      return typeof text === 'string' ? text : null;
    },
    listFiles: (path) => readdir(path).catch(() => null),
    readLink: (path) => readlink(path).catch(() => null),
    mayUse: (path, mode) =>
      access(path, mode === 'read' ? constants.R_OK : constants.W_OK).then(
        () => true,
        () => false,
      ),
  };
}

function choose({ only, skip = [] }: DoctorOptions): Check[] {
  const wanted = only === undefined ? new Set(CHECKS.map(({ id }) => id)) : known(only);
  const unwanted = known(skip);
  return CHECKS.filter(({ id }) => wanted.has(id) && !unwanted.has(id));
}

function known(patterns: readonly string[]): Set<string> {
  const { ids, unknown } = matching(patterns);
  if (unknown !== null) {
    throw invalidValue(
      'check',
      `a pattern such as library.* or one of ${CHECKS.map(({ id }) => id).join(', ')}`,
      unknown,
    );
  }
  return ids;
}

/** All at once: one that waits does not delay the others, and results keep the order of the checks. */
export function runChecks(
  checks: readonly Check[],
  contextFor: (check: Check) => Promise<CheckContext>,
  { started = performance.now(), limitMs = CHECK_LIMIT_MS } = {},
): Promise<CheckResult[]> {
  return Promise.all(
    checks.map(async (check) => {
      const finding = await limited(check, contextFor(check), limitMs, started);
      return { id: check.id, title: check.title, ...finding, durationMs: performance.now() - started };
    }),
  );
}

async function limited(
  check: Check,
  context: Promise<CheckContext>,
  limitMs: number,
  started: number,
): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, limitMs - (performance.now() - started)), {
      status: 'fail',
      cause: `The check did not end within ${limitMs} ms.`,
      evidence: 'what it looks at does not answer',
      remedy: 'Run it again. If it happens again, look at the check pressure and at the kernel log (dmesg).',
    });
  });
  try {
    return await Promise.race([context.then(check.run), late]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: 'fail', cause: 'The check itself failed.', evidence: message, remedy: 'Please report it.' };
  } finally {
    clearTimeout(timer);
  }
}
