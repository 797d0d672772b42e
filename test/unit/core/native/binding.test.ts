import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UmaError } from '../../../../lib/base/errors.ts';
import { load } from '../../../../lib/core/native/binding.ts';

/** A package folder without a binary. */
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'umaprobe-load-'));
  writePackage(root);
  vi.stubEnv('UMAPROBE_BINARY', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

/** What the search reads of a package, and the script that builds it. */
function writePackage(folder: string): void {
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"name": "umaprobe"}');
  writeFileSync(join(folder, 'scripts/native-build.mjs'), '');
}

/** A file in the place of a build that is not a library. */
function place(path: string, text = 'not a library'): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function failure(folder = root): UmaError {
  try {
    load(folder);
  } catch (error) {
    if (error instanceof UmaError) return error;
    throw error;
  }
  throw new Error('it loaded');
}

describe('a missing binary', () => {
  it('is reported with every path tried and what to do', () => {
    const { code, nativeName, message } = failure();
    expect({ code, nativeName }).toEqual({ code: 'ERR_UMA_LIBRARY_MISSING', nativeName: 'LIBRARY_MISSING' });
    expect(message).toContain(`${process.platform}-${process.arch}`);
    expect(message).toContain(`build it from source: node ${join(root, 'scripts/native-build.mjs')}`);
    expect(message).toContain('No native build was found for');
    for (const kind of ['Release', 'RelWithDebInfo', 'Debug'])
      expect(message).toContain(join(root, 'build-cmake', kind, 'umaprobe.node'));
    expect(message).not.toContain('\n');
  });

  it('cannot be built where the script is not, as in the standalone file', () => {
    rmSync(join(root, 'scripts'), { recursive: true });
    expect(failure().message).toMatch(/\. The package of npm can be built from source\. Tried: /);
    expect(failure().message).not.toContain('native-build');
  });

  it('is searched again at the next call', () => {
    expect(failure().nativeName).toBe('LIBRARY_MISSING');
    place('build/Release/umaprobe.node');
    expect(failure().nativeName).toBe('LOAD_FAILED');
  });

  it('is named if UMAPROBE_BINARY is wrong', () => {
    vi.stubEnv('UMAPROBE_BINARY', join(root, 'nothing.node'));
    expect(failure().message).toContain(
      `${join(root, 'nothing.node')}: UMAPROBE_BINARY names a file that does not exist`,
    );
  });

  it('quotes a path that a shell would split', () => {
    const spaced = join(root, 'my app');
    writePackage(spaced);
    expect(failure(spaced).message).toContain(`node '${join(spaced, 'scripts/native-build.mjs')}'`);
  });

  it.each([
    ['has another name', () => writeFileSync(join(root, 'package.json'), '{"name": "some-app"}')],
    ['is missing', () => rmSync(join(root, 'package.json'))],
    ['is not JSON', () => writeFileSync(join(root, 'package.json'), '{')],
  ])('is explained by bundling if package.json %s, also beside an addon of another package', (_how, change) => {
    place('build/Release/other.node');
    change();
    const { code, nativeName, message } = failure();
    expect({ code, nativeName }).toEqual({ code: 'ERR_UMA_LIBRARY_MISSING', nativeName: 'BUNDLED' });
    expect(message).toContain('mark it external (esbuild --external:umaprobe');
    expect(message).not.toContain('\n');
  });

  it('is explained by bundling if there is no import.meta', () => {
    expect(failure('').nativeName).toBe('BUNDLED');
  });

  it.each(['darwin', 'win32'] as const)('tells a user of %s that it is for Linux', (platform) => {
    const descriptor = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor;
    Object.defineProperty(process, 'platform', { ...descriptor, value: platform });
    try {
      expect(failure().message).toContain(
        `umaprobe reads the memory of Linux machines; on ${platform} it has nothing to read.`,
      );
    } finally {
      Object.defineProperty(process, 'platform', descriptor);
    }
  });

  it('tells a user of Alpine that glibc is needed', () => {
    if (process.report === undefined) throw new Error('Node without reports');
    vi.spyOn(process.report, 'getReport').mockReturnValue({ header: {} });
    expect(failure().message).toContain('musl');
  });
});

describe('a broken binary', () => {
  it.each([
    'build/Release/umaprobe.node',
    'build/Debug/umaprobe.node',
    `prebuilds/${process.platform}-${process.arch}/umaprobe.node`,
    'build-cmake/Debug/umaprobe.node',
  ])('in %s is not taken for a missing one', (path) => {
    const file = place(path);
    const error = failure();
    expect(error).toMatchObject({ code: 'ERR_UMA_LIBRARY_MISSING', nativeName: 'LOAD_FAILED', call: file });
    expect(error.message).toContain('the file exists but cannot be loaded: it is no library: install umaprobe again');
  });

  it('does not fall back to the next build', () => {
    const first = place('build/Release/umaprobe.node');
    place('build-cmake/Release/umaprobe.node');
    expect(failure().call).toBe(first);
  });
});
