/** `umaprobe launch` on simulated machines, as its tests run it. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LaunchReport } from '../../lib/types/index.ts';
import { CLI, runUmaprobe } from './cli.ts';
import { QWEN3_8B } from './qwen.ts';
import { parseDocument } from './schemas.ts';
import { temporaryFolder } from './temporary-folder.ts';

export const folder = temporaryFolder('launch-cli');
export const GROW = [process.execPath, CLI, 'sim', 'grow'];

/** Qwen3-8B, of which only the config is there. */
export const CONFIG = join(folder, 'config.json');
writeFileSync(CONFIG, JSON.stringify(QWEN3_8B));

export const FITTING = ['--max-model-len', '32768', '--gpu-memory-utilization', '0.4'];

export function launch(...words: string[]) {
  return runUmaprobe(['launch', '--folder', join(folder, 'record'), ...words]);
}

export function document(stdout: string): LaunchReport {
  const report = parseDocument(stdout) as unknown as LaunchReport;
  // The schema of a launch names the documents in it, and does not repeat them.
  for (const inner of [report.plan.fit, report.prepare, report.guard])
    if (inner !== null) parseDocument(JSON.stringify(inner));
  return report;
}
