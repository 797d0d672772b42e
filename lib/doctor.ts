/** Checks this machine. */
import { access, constants, readdir } from 'node:fs/promises';
import { CHECKS, matching } from './doctor/checks.ts';
import type { Check, CheckContext, CheckResult, DoctorReport, Finding } from './doctor/types.ts';
import { invalidValue } from './errors.ts';
import { native } from './native.ts';
import { snapshot } from './snapshot.ts';

export type { CheckResult, CheckStatus, DoctorReport } from './doctor/types.ts';

export interface DoctorOptions {
  /** Ids or patterns such as "library.*"; all checks when absent. */
  only?: readonly string[];
  skip?: readonly string[];
}

/** A check that takes longer is answered for; the others go on. */
export const CHECK_LIMIT_MS = 3000;

export async function doctor(options: DoctorOptions = {}): Promise<DoctorReport> {
  const checks = choose(options);
  // Below the limit of a check, so that a driver that hangs is told as such and not as a check that took too long.
  const reading = await snapshot({ memGetInfo: 'child', deadlineMs: 2000, childDeadlineMs: 3000 });
  const results = await runChecks(checks, {
    snapshot: reading,
    readKernelFile: (path) => {
      const [text] = native().readFiles([path]);
      return typeof text === 'string' ? text : null;
    },
    listFiles: (path) => readdir(path).catch(() => null),
    mayUse: (path, mode) =>
      access(path, mode === 'read' ? constants.R_OK : constants.W_OK).then(
        () => true,
        () => false,
      ),
    isRoot: process.geteuid?.() === 0,
    env: process.env,
  });
  const summary = { pass: 0, warn: 0, fail: 0, skip: 0 };
  for (const { status } of results) summary[status]++;
  return { schema: 'umaprobe/doctor/1', at: reading.at, simulated: reading.simulated, summary, checks: results };
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
  context: CheckContext,
  limitMs = CHECK_LIMIT_MS,
): Promise<CheckResult[]> {
  return Promise.all(
    checks.map(async (check) => {
      const started = performance.now();
      const finding = await limited(check, context, limitMs);
      return { id: check.id, title: check.title, ...finding, durationMs: performance.now() - started };
    }),
  );
}

async function limited(check: Check, context: CheckContext, limitMs: number): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(resolve, limitMs, {
      status: 'fail',
      cause: `The check did not end within ${limitMs} ms.`,
      evidence: 'what it looks at does not answer',
      remedy: 'A driver or file system that hangs is the likely cause; see the kernel log.',
    });
  });
  try {
    return await Promise.race([Promise.resolve(context).then(check.run), late]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: 'fail', cause: 'The check itself failed.', evidence: message, remedy: 'Please report it.' };
  } finally {
    clearTimeout(timer);
  }
}
