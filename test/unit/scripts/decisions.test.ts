/** The scripts' own decisions, each shown to say yes and no. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagesAreCurrent } from '../../../scripts/bootstrap.mjs';
import { readGyp, targetFlags } from '../../../scripts/direct-build.mjs';
import { breachesOf } from '../../../scripts/house-rules.mjs';
import { progressLine } from '../../../scripts/progress-reporter.mjs';
import { root } from '../../../scripts/run.mjs';
import { skipsByReason } from '../../../scripts/skip-reporter.mjs';

describe('bootstrap', () => {
  const lock = {
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '2.0.0', optional: true },
    },
  };

  it('installs when a package is missing or of another version, not for an optional one', () => {
    expect(packagesAreCurrent(lock, { packages: { 'node_modules/a': { version: '1.0.0' } } })).toBe(true);
    expect(packagesAreCurrent(lock, { packages: { 'node_modules/a': { version: '1.0.1' } } })).toBe(false);
    expect(packagesAreCurrent(lock, { packages: {} })).toBe(false);
    expect(packagesAreCurrent(lock, null)).toBe(false);
  });
});

describe('the scripts of package.json', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const names = Object.keys(scripts);

  it('have no name that npm runs by itself, but for prepack and test', () => {
    const hook =
      /^(preinstall|install|postinstall|prepublish|preprepare|prepare|postprepare|prepublishOnly|prepack|postpack|publish|postpublish|dependencies|version|stop|start|restart|uninstall)$/;
    const around = names.filter((name) => names.includes(name.replace(/^(pre|post)/, '')) && /^(pre|post)/.test(name));
    expect([...names.filter((name) => hook.test(name)), ...around]).toEqual(['prepack']);
  });
});

describe('the build with a compiler alone', () => {
  it('takes its flags from binding.gyp', () => {
    const gyp = readGyp('# a comment\n{ "target_defaults": { "cflags_cc": ["-std=c++17"] }, "targets": [] }');
    const flags = targetFlags(gyp, {
      defines: ['A=1'],
      include_dirs: ['native'],
      ldflags: ['-s'],
      libraries: ['-ldl'],
    });
    expect(flags.compile).toEqual(expect.arrayContaining(['-std=c++17', '-DA=1', '-Inative']));
    expect(flags.link).toContain('-s');
    expect(flags.libraries).toEqual(['-ldl']);
  });

  it('refuses what it does not know rather than leave it out', () => {
    expect(() => targetFlags({ target_defaults: {} }, { mac_bundle: 1 })).toThrow('does not know mac_bundle');
    expect(() => readGyp("{ 'single': 'quotes' }")).toThrow('must stay JSON');
  });
});

describe('the house rules', () => {
  it.each([
    ['native/host/host.cc', '#include <napi.h>\n', 'only js/calls'],
    ['lib/memory/views.ts', "if (name === 'NVIDIA GB10') x();\n", 'known by its attributes'],
    ['lib/memory/views.ts', "import { x } from './x.js';\n", 'relative imports end in .ts'],
    ['scripts/x.mjs', '// FIXME later\n', 'an issue, not a comment'],
    ['lib/memory/long.ts', '\n'.repeat(501), 'is it one idea'],
  ])('find a breach in %s', (path, text, why) => {
    expect(breachesOf(path, text)).toEqual([expect.stringContaining(why)]);
  });

  it.each([
    ['native/js/calls_read.cc', '#include <napi.h>\n'],
    ['lib/memory/quirks.ts', "const name = 'NVIDIA GB10';\n"],
    ['lib/memory/views.ts', "// On a GB10 'free' is small.\nimport { x } from './x.ts';\n"],
  ])('leave %s alone', (path, text) => {
    expect(breachesOf(path, text)).toEqual([]);
  });
});

describe('the skip reporter', () => {
  const test = (state: string, note?: string, fullName = 't') => ({
    result: () => ({ state, note }),
    project: { name: 'p' },
    fullName,
  });

  it('groups skipped tests by their reason, with null for none', () => {
    const reasons = skipsByReason([
      test('passed'),
      test('skipped', 'no GPU'),
      test('skipped', undefined, 'on a real GPU (skipped: no GPU) > counts'),
      test('skipped'),
    ]);
    expect([...reasons].map(([reason, names]) => [reason, names.length])).toEqual([
      ['no GPU', 2],
      [null, 1],
    ]);
  });
});

describe('the line of progress', () => {
  const run = { files: 30, allFiles: 120, tests: 900, failed: 0, elapsed: 95_000, done: 100, expected: 400 };

  it('has files, tests, the time and what is left', () => {
    expect(progressLine(run)).toBe('progress: 30 of 120 files, 900 tests, 1 min 35 s, about 4 min 45 s left');
  });

  it('has no estimate at the beginning', () => {
    expect(progressLine({ ...run, done: 79 })).toBe('progress: 30 of 120 files, 900 tests, 1 min 35 s');
  });

  it('has failures, and no estimate at the end', () => {
    expect(progressLine({ ...run, files: 120, failed: 2, elapsed: 41_000 })).toBe(
      'progress: 120 of 120 files, 900 tests, 2 failed, 41 s',
    );
  });
});
