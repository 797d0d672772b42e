/** stress() on a real device. It allocates all there is: nothing else should run on the GPU meanwhile. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { snapshot } from '../../lib/snapshot.ts';
import { stress } from '../../lib/stress.ts';
import { gpu } from './gpu.ts';

const folder = mkdtempSync(join(tmpdir(), 'umaprobe-stress-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const journal = join(folder, 'journal.jsonl');
const GiB = 2 ** 30;
const MiB = 2 ** 20;
const ours = async () => (await snapshot()).devices[0]?.processes?.filter(({ pid }) => pid === process.pid) ?? [];
