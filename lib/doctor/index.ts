/** doctor(): takes the readings that the chosen checks need, and runs the checks with a time limit. */

import { access, constants, readdir, readlink } from 'node:fs/promises';
import { checkKeys, invalidValue } from '../base/arguments.ts';
import { kernelFiles } from '../host/files.ts';
import { namesOfAllProcesses } from '../host/process.ts';
import { native } from '../native/binding.ts';
import { snapshot } from '../snapshot/index.ts';
import type { CheckResult, DoctorReport, Finding, Snapshot } from '../types/index.ts';
import type { Check, CheckContext } from './check.ts';
import { CHECKS, matching } from './checks.ts';

export interface DoctorOptions {
  /** Ids or patterns such as "library.*". Default: all checks. */
  only?: readonly string[];
  /** Ids or patterns of checks to leave out. */
  skip?: readonly string[];
}

/** Limit for one check including its readings; a check that takes longer is reported as failed. */
export const CHECK_LIMIT_MS = 3000;
/**
 * Limit for the readings of CUDA, NVML and the child: shorter, so that a timeout is reported with the library's name.
 */
const READING_LIMIT_MS = 2800;
/**
 * Least time for the child process, which starts Node and creates a context in about 100 ms each. With less its timeout
 * would mean nothing.
 */
const CONTEXT_MS = 1000;

export async function doctor(options: DoctorOptions = {}): Promise<DoctorReport> {
  checkKeys('doctor()', options, { only: true, skip: true });
  const checks = chooseChecks(options);
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

/** One reading for all checks. It waits for CUDA and NVML only if a check needs them. */
function read(checks: readonly Check[]): Promise<Snapshot> {
  const waits = checks.some(({ needs }) => needs.includes('cuda') || needs.includes('nvml'));
  return snapshot({
    memGetInfo: 'never',
    deadlineMs: waits ? READING_LIMIT_MS : 1,
    childDeadlineMs: CONTEXT_MS,
    hiddenDevices: waits,
  });
}

/**
 * The same with cudaMemGetInfo, within the remaining time. It is left out if CUDA did not even answer without a
 * context, or if another library has used up the time.
 */
async function readContext(reading: Snapshot, started: number): Promise<Snapshot> {
  const leftMs = Math.round(READING_LIMIT_MS - (performance.now() - started));
  if (reading.libraries.cuda.state !== 'loaded' || leftMs < CONTEXT_MS) return reading;
  return snapshot({ memGetInfo: 'child', deadlineMs: leftMs, childDeadlineMs: leftMs, hiddenDevices: true });
}

function contextOf(reading: Snapshot): CheckContext {
  return {
    snapshot: reading,
    readKernelFile: async (path) => {
      const [text] = await kernelFiles(native()).read([path]);
      return typeof text === 'string' ? text : null;
    },
    processNames: () => namesOfAllProcesses(kernelFiles(native())),
    listFiles: (path) => readdir(path).catch(() => null),
    readLink: (path) => readlink(path).catch(() => null),
    mayUse: (path, mode) =>
      access(path, mode === 'read' ? constants.R_OK : constants.W_OK).then(
        () => true,
        () => false,
      ),
  };
}

function chooseChecks({ only, skip = [] }: DoctorOptions): Check[] {
  const wanted = only === undefined ? new Set(CHECKS.map(({ id }) => id)) : idsOf(only);
  const unwanted = idsOf(skip);
  return CHECKS.filter(({ id }) => wanted.has(id) && !unwanted.has(id));
}

function idsOf(patterns: readonly string[]): Set<string> {
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

/** Runs all checks at the same time; the results keep the order of the checks. */
export function runChecks(
  checks: readonly Check[],
  contextFor: (check: Check) => Promise<CheckContext>,
  { started = performance.now(), limitMs = CHECK_LIMIT_MS } = {},
): Promise<CheckResult[]> {
  return Promise.all(
    checks.map(async (check) => {
      const finding = await runWithLimit(check, contextFor(check), limitMs, started);
      return { id: check.id, title: check.title, ...finding, durationMs: performance.now() - started };
    }),
  );
}

async function runWithLimit(
  check: Check,
  context: Promise<CheckContext>,
  limitMs: number,
  started: number,
): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Finding>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, limitMs - (performance.now() - started)), {
      status: 'fail',
      cause: `The check did not finish within ${limitMs} ms.`,
      evidence: 'a reading that it needs did not return',
      remedy: 'Run it again. If it happens again, look at the check pressure and at the kernel log (dmesg).',
    });
  });
  try {
    return await Promise.race([context.then(check.run), timeout]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: 'fail', cause: 'The check itself failed.', evidence: message, remedy: 'Please report it.' };
  } finally {
    clearTimeout(timer);
  }
}
