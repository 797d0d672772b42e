/** The scripts' own decisions, each shown to say yes and no. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isIncremental } from '../../../scripts/bootstrap.mjs';
import { readGyp, targetFlags } from '../../../scripts/direct-build.mjs';
import { breachesOf } from '../../../scripts/house-rules.mjs';
import { summaryOf } from '../../../scripts/lint.mjs';
import { packagesAreCurrent } from '../../../scripts/packages.mjs';
import { progressLine } from '../../../scripts/progress-reporter.mjs';
import { root } from '../../../scripts/run.mjs';
import { changesBetween } from '../../../scripts/stale.mjs';
import { planOf } from '../../../scripts/test.mjs';

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

describe('a native build', () => {
  const before = 'x64\n115\nnative/a.cc 1\nnative/b.h 1\nnative/addon.map 1\nbinding.gyp 1';

  it.each([
    ['a changed source', before.replace('a.cc 1', 'a.cc 2'), ['native/a.cc'], true],
    ['a renamed source', before.replace('a.cc', 'c.cc'), ['native/a.cc', 'native/c.cc'], true],
    ['a header that is gone', before.replace('native/b.h 1\n', ''), ['native/b.h'], true],
    ['another list of exported symbols', before.replace('map 1', 'map 2'), ['native/addon.map'], false],
    ['other flags', before.replace('gyp 1', 'gyp 2'), ['binding.gyp'], true],
    ['another Node', before.replace('115', '127'), ['115', '127'], false],
    ['nothing but a missing output', before, [], true],
  ])('after %s', (_, now, changed, incremental) => {
    expect(changesBetween(before, now)).toEqual(changed);
    expect(isIncremental(changed)).toBe(incremental);
  });

  it('is whole where nothing is known of the last one', () => {
    expect(isIncremental(null)).toBe(false);
  });
});

describe('what npm run test:<project> -- <words> runs', () => {
  it.each([
    [['unit', '--', 'sim'], ['--project', 'unit', 'test/unit/sim/'], false],
    [['unit', '--', 'sim', 'verdict'], ['--project', 'unit', 'test/unit/sim/', 'verdict'], false],
    [['unit', '--', '-t', 'sim'], ['--project', 'unit', '-t', 'sim'], false],
    [['sim', '--', 'unit'], ['--project', 'sim', 'unit'], true],
    [['sim', '--', 'docs'], ['--project', 'sim', 'test/sim/docs/'], true],
    [['kernel', 'kernel-beside', '--'], ['--project', 'kernel', '--project', 'kernel-beside'], true],
  ])('%j', (given, args, needsBuild) => {
    expect(planOf(given)).toEqual({ isAll: false, needsBuild, args });
  });

  it('npm test -- words: the words in all projects, of which only those count', () => {
    expect(planOf(['--', 'sim'])).toMatchObject({ isAll: true, needsBuild: true });
    expect(planOf(['--', 'sim']).args).toEqual(expect.arrayContaining(['test/unit/sim/']));
  });

  it('an unknown project is an error that names the known ones', () => {
    expect(() => planOf(['unti'])).toThrow(/^unti is no project of tests \(unit, sim, .*name files after --$/);
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
    ['lib/core/memory/views.ts', "if (name === 'NVIDIA GB10') x();\n", 'known by its attributes'],
    ['lib/core/memory/views.ts', "import { x } from './x.js';\n", 'relative imports end in .ts'],
    ['scripts/x.mjs', '// FIXME later\n', 'an issue, not a comment'],
    ['lib/models/fit/fit.ts', "import { get } from 'node:https';\n", 'opens no connection'],
    ['lib/models/fit/fit.ts', "const got = await fetch('https://example.org');\n", 'opens no connection'],
    ['native/nvml/nvml.cc', '  ::socket(AF_INET, SOCK_STREAM, 0);\n', 'opens no connection'],
    ['lib/core/memory/long.ts', '\n'.repeat(501), 'is it one idea'],
    [
      'lib/run/record/live.ts',
      "import { statSync, openSync } from 'node:fs';\n",
      'live.ts: openSync of node:fs: files are opened by',
    ],
    ['lib/run/record/live.ts', "import { readFile } from 'node:fs/promises';\n", 'readFile of node:fs'],
    [
      'lib/run/record/live.ts',
      "import {\n  statSync,\n  type Stats,\n  rmSync as remove,\n} from 'node:fs';\n",
      'rmSync of node:fs',
    ],
    ['lib/base/system-file.ts', "import { writeFileSync } from 'node:fs';\n", 'writeFileSync of node:fs'],
    ['lib/run/record/live.ts', "import * as fs from 'node:fs';\n", 'imported by name'],
    ['lib/run/record/live.ts', "const fs = await import('node:fs/promises');\n", 'imported by name'],
    ['lib/run/record/live.ts', "const fs = process.getBuiltinModule('node:fs');\n", 'imported by name'],
    ['lib/run/record/live.ts', "export { openSync } from 'node:fs';\n", 'imported by name'],
    ['lib/run/record/live.ts', "import fs, { statSync } from 'node:fs';\n", 'imported by name'],
    ['lib/run/record/live.ts', "const fs = createRequire(import.meta.url)('fs');\n", 'imported by name'],
    ['lib/run/record/live.ts', 'const fs = await import(`node:fs`);\n', 'imported by name'],
    ['lib/run/record/live.ts', "const fs = process.binding('constants');\n", 'open files by a path'],
    ['lib/run/record/live.ts', "import { spawn as run } from 'node:child_process';\n", 'programs are started by'],
    ['native/host/host.cc', '  ::execlp("id", "id", nullptr);\n', 'found by PATH'],
    ['native/host/host.cc', '  std::system("sync");\n', 'found by PATH'],
    ['lib/run/guard/target.ts', "  const { stdout } = spawnSync(\n    'systemctl',\n", 'not by PATH'],
    ['native/host/host.cc', '  ::open(path, O_WRONLY | O_CREAT, 0600);\n', 'a file is made by'],
    ['native/run/record/recorder.cc', '  std::ofstream file(path);\n', 'a file is made by'],
  ])('find a breach in %s', (path, text, why) => {
    expect(breachesOf(path, text)).toEqual([expect.stringContaining(why)]);
  });

  it.each([
    ['native/js/calls_read.cc', '#include <napi.h>\n'],
    ['lib/base/folder.ts', "import { openSync, renameSync } from 'node:fs';\n"],
    [
      'lib/run/record/live.ts',
      "import { closeSync, type Stats, statSync } from 'node:fs';\nimport type { Dirent } from 'node:fs';\n",
    ],
    [
      'lib/run/guard/target.ts',
      "spawnSync(program, ['show']);\nexecFile('/usr/bin/id');\nconst at = /x/.exec('systemctl');\n",
    ],
    ['native/run/record/segments.cc', '  ::openat(folder, name, O_CREAT);\n'],
    ['lib/core/memory/quirks.ts', "const name = 'NVIDIA GB10';\n"],
    ['lib/core/memory/views.ts', "// On a GB10 'free' is small.\nimport { x } from './x.ts';\n"],
  ])('leave %s alone', (path, text) => {
    expect(breachesOf(path, text)).toEqual([]);
  });
});

describe('the last line of lint', () => {
  it.each([
    [[], [], 'all fine'],
    [[], ['clang-tidy', 'reference'], 'the rest is fine; not checked here: clang-tidy, reference'],
    [['types'], [], 'not clean: types'],
    [['types'], ['clang-tidy'], 'not clean: types; not checked here: clang-tidy'],
  ])('failed %j, skipped %j', (failed, skipped, line) => {
    expect(summaryOf({ failed, skipped })).toBe(line);
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
