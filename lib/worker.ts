/** Entry point of the child process of sweep, layout and stress. */

import { runChild } from './probe/child.ts';

runChild({
  sweep: () => import('./sweep/loop.ts'),
  layout: () => import('./layout/loop.ts'),
  stress: () => import('./stress/loop.ts'),
});
