/** A model on the Hub is read before it is asked about, with a line on a terminal that says how far that is. */
import { formatBytes } from '../../base/format.ts';
import { openModel } from '../../models/estimate/index.ts';
import type { Model, ModelDescription, ModelProgress } from '../../types/index.ts';
import type { Context } from './command.ts';

const CLEAR_LINE = '\r\x1b[K';
/** A person reads no faster. */
const REDRAW_MS = 100;

/** The model itself, if it is not on the Hub: nothing else is slow enough for a line. */
export async function readFromHub(
  model: string | ModelDescription,
  { stderr }: Context,
): Promise<string | ModelDescription | Model> {
  if (typeof model !== 'string' || !model.startsWith('hf:')) return model;
  let drawn = 0;
  const onProgress = ({ bytes, requests }: ModelProgress): void => {
    if (!stderr.isTty || Date.now() - drawn < REDRAW_MS) return;
    drawn = Date.now();
    stderr.control(CLEAR_LINE);
    stderr.write(`${model}: ${requests} ${requests === 1 ? 'request' : 'requests'}, ${formatBytes(bytes)}`);
  };
  try {
    return await openModel(model, { onProgress });
  } finally {
    if (drawn > 0) stderr.control(CLEAR_LINE);
  }
}
