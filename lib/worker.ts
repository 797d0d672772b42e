/** The child process of sweep, layout and stress. */

import { runChild } from './probe/child.ts';

runChild({
  stress: () => import('./stress/loop.ts'),
});
