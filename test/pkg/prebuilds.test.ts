/** The shipped binaries need glibc 2.28 and no compiler runtime; and the check of that finds problems. */

import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { problemsOf, problemsOfFile } from '../../scripts/check-prebuilds.mjs';
import { ROOT } from '../support/root.ts';

const { app } = inject('packed');

describe('the prebuilds', () => {
  it.each(['x64', 'arm64'])('%s starts on glibc 2.28 without a compiler runtime', (arch) => {
    expect(problemsOf(arch, join(app, 'node_modules', 'umaprobe'))).toEqual([]);
  });
});

describe('the check of the prebuilds', () => {
  const addon = join(ROOT, 'build', 'Release', 'umaprobe.node');

  it('finds the symbols above the floor in an ordinary build', (context) => {
    const glibc = (process.report.getReport() as { header: { glibcVersionRuntime: string } }).header
      .glibcVersionRuntime;
    if (Number(glibc.split('.')[1]) < 34)
      context.skip(`this machine's glibc ${glibc} has nothing above the floor to find`);
    const problems = problemsOfFile(addon, { arch: process.arch, exported: /./ });
    expect(problems).toContainEqual(expect.stringMatching(/^asks for \w+@GLIBC_2\.3\d, above GLIBC_2\.28$/));
  });

  it('finds a wrong architecture, a stray export and a missing file', () => {
    expect(problemsOfFile(addon, { arch: 'arm64', exported: /./ })).toContain('is built for x64');
    expect(problemsOfFile(addon, { arch: 'x64', exported: /^none$/ })).toContain('exports napi_register_module_v1');
    expect(problemsOfFile(join(ROOT, 'no-such-file'), { arch: 'x64', exported: /./ })).toEqual([
      'is missing: run npm run prebuilds',
    ]);
  });
});
