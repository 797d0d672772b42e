/** Messages of the kernel: which are told, and what is said where something else stands in place of its log. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { followKernelMessages } from '../../../../lib/run/record/kernel-messages.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder('kmsg');
const file = join(folder, 'log');
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

it('messages about memory and the GPU are told, from now on', async () => {
  const fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  // A FIFO with a writer has no end, as the log.
  const log = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
  // As long as the buffer of the reader: one record for each read.
  const write = (text: string) => writeSync(log, `6,1,2,-;${text}\n`.padEnd(8192));
  const seen: string[] = [];
  const push = (text: string) => seen.push(text);
  const ends = new AbortController();
  write('NVRM: before');
  const followed = followKernelMessages(push, push, ends.signal, fifo);
  try {
    for (const text of ['usb 1-1: plugged', 'NVRM: Xid 31', 'Out of memory: killed process 5']) write(text);
    await expect.poll(() => seen).toEqual(['NVRM: Xid 31', 'Out of memory: killed process 5']);
  } finally {
    ends.abort();
    await followed;
    closeSync(log);
  }
});
