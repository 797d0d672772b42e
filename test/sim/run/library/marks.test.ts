/** What a process that sets a mark is told, by each answer of the recorder. */

import { expect, it, onTestFinished } from 'vitest';
import { Folder } from '../../../../lib/base/folder.ts';
import { listenForMarks, type MarkAnswer, markIn } from '../../../../lib/run/record/marks.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

async function toldBy(answer: MarkAnswer): Promise<unknown> {
  const folder = Folder.open(temporaryFolder('marks'), 'own');
  const server = await listenForMarks(folder, async () => answer);
  onTestFinished(() => {
    server.close();
    folder.close();
  });
  return markIn(folder.path, 'epoch 3').then(
    () => 'taken',
    (error: { nativeName: string }) => error.nativeName,
  );
}

it.each([
  ['ok', 'taken'],
  ['timeout', 'LATE'],
  ['refused', 'REFUSED'],
] as const)('the answer %s', async (answer, told) => expect(await toldBy(answer)).toBe(told));
