/** Free pages that the processors keep in lists: free, but not in MemFree. */

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { isRoot } from './real-files.ts';

const FRACTION = '/proc/sys/vm/percpu_pagelist_high_fraction';

/**
 * Keeps the lists of this computer short while the tests of a file run. By default (0) each may grow to its part of an eighth
 * of the memory; then hundreds of MiB that a test frees, or that prepare() frees for it, are missing from MemFree for minutes.
 */
export function keepProcessorListsShort(): void {
  let before: string | null = null;
  beforeAll(() => {
    if (!isRoot) return;
    try {
      before = readFileSync(FRACTION, 'utf8');
      writeFileSync(FRACTION, '10000');
    } catch {
      before = null; // Linux before 5.14, or a container: the lists are as they are
    }
  });
  afterAll(() => {
    if (before !== null) writeFileSync(FRACTION, before);
  });
}
