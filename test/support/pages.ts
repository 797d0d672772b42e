/** The pages of the documentation, as paths from the root folder. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

export const PAGES = [...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`), 'README.md'].filter(
  (page) => page.endsWith('.md') && existsSync(join(ROOT, page)),
);

/** Pages whose commands run for seconds: launches, profiles, searches. test/sim/docs has files of their own for them. */
export const LONG_PAGES = ['guard', 'launch', 'profile', 'simulated-machine', 'stress', 'sweep'].map(
  (name) => `docs/${name}.md`,
);
