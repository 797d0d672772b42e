/** serve(): loads the checks of its options and its work when it is first needed. */

import { lazy } from '../base/lazy.ts';
import type { Serving } from '../types/index.ts';
import type { ServeOptions } from './options.ts';

const work = lazy(() => Promise.all([import('./options.ts'), import('./server.ts')]));

/**
 * Serves the memory of this machine over HTTP until `close()`: a live page at /, /metrics for Prometheus (text 0.0.4,
 * or OpenMetrics 1.0 if the client prefers it), /-/healthy and /-/ready. Nothing can be changed through it, and nothing
 * is read while nobody asks.
 *
 * @example
 * ```ts
 * import { serve } from 'umaprobe/serve';
 *
 * const serving = await serve({ listen: '127.0.0.1:8080' });
 * process.once('SIGTERM', () => serving.close());
 * console.log(serving.url);
 * ```
 *
 * @throws TypeError/RangeError (`ERR_INVALID_ARG_*`, `ERR_OUT_OF_RANGE`) for bad options, also an address that other machines
 *   reach without a token. UmaError `ERR_UMA_PATH`, `ERR_UMA_PERMISSION` for the file of the token; `ERR_UMA_BUSY`: the port is
 *   in use; `ERR_UMA_CALL_FAILED`: the address is not of this machine. The signal's reason when it is aborted before the start.
 */
export async function serve(options: ServeOptions = {}): Promise<Serving> {
  const [{ checkServeOptions }, { startServer }] = await work();
  return startServer(checkServeOptions(options));
}
