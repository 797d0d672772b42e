/** Sends a mark to the recorder of a folder. */

import { isFailure } from '../../base/facts.ts';
import { native } from '../../core/native/binding.ts';
import { folderOf, socketIn } from './folder.ts';
import { sendMark } from './marks.ts';

export function markIn(folder: string | undefined, text: string): Promise<void> {
  const machine = native().simulatedMachine();
  return sendMark(socketIn(folderOf(folder, isFailure(machine) ? null : machine)), text);
}
