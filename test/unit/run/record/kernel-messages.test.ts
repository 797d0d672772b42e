/** Messages of the kernel, where something else stands in place of its log. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { followKernelMessages } from '../../../../lib/run/record/kernel-messages.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const file = join(temporaryFolder('kmsg'), 'log');
writeFileSync(file, '6,1,2,-;Out of memory: killed process 5\n');

it.each([
  ['/dev/null', 'messages of the kernel are not recorded: /dev/null is not its log here'],
  [file, `messages of the kernel are not recorded: ${file} is not its log here`],
  [`${file}/none`, `messages of the kernel are not recorded: ${file}/none cannot be read (ENOTDIR)`],
])('%s ends at once, with a reason', async (path, reason) => {
  const seen: string[] = [];
  const signal = AbortSignal.timeout(5000);
  await followKernelMessages(
    (text) => seen.push(text),
    (text) => seen.push(text),
    signal,
    path,
  );
  expect([seen, signal.aborted]).toEqual([[reason], false]);
});
