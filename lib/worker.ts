/** Entry point of the child process of sweep, layout and stress. */

import { runChild } from './core/probe/child.ts';

runChild({
  sweep: () => import('./core/sweep/loop.ts'),
  layout: () => import('./core/layout/loop.ts'),
  stress: () => import('./core/stress/loop.ts'),
});
