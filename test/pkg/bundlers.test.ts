/** Bundled into an application umaprobe refuses with the remedy; marked external, as docs/bundlers.md says, it works. */

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { describe, expect, inject, it } from 'vitest';
import { pathWith, runInSandbox } from '../support/sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Programs that print "works", or the one line of the error. */
const PROGRAMS = {
  library: `import { hostMemorySync } from 'umaprobe';
    try { if (hostMemorySync().total > 0) console.log('works'); } catch (error) { console.log(error.message); }`,
  simulator: `import { machines } from 'umaprobe/sim';
    try { if (machines().length > 0) console.log('works'); } catch (error) { console.log(error.message); }`,
};
const REFUSAL = /^umaprobe\.node: umaprobe was bundled into another program.*: mark it external .*docs\/bundlers\.md/;

/** An application with umaprobe installed, and an addon of its own that umaprobe must not take for its binary. */
const project = temporaryFolder('bundlers');
cpSync(join(inject('packed').app, 'node_modules'), join(project, 'node_modules'), { recursive: true });
mkdirSync(join(project, 'build', 'Release'), { recursive: true });
writeFileSync(join(project, 'build', 'Release', 'own.node'), 'not umaprobe');
writeFileSync(join(project, 'package.json'), '{ "name": "some-app", "private": true }\n');
for (const [name, code] of Object.entries(PROGRAMS)) writeFileSync(join(project, `${name}.mjs`), code);

function output(file: string): string {
  const { stdout, stderr } = runInSandbox(project, { PATH: pathWith('node') }, 'node', file);
  return `${stdout}${stderr}`.trim();
}

async function bundledByEsbuild(program: string, format: 'esm' | 'cjs', external: string[]): Promise<string> {
  const file = join(project, 'dist', `${program}-${external.length}.${format === 'esm' ? 'mjs' : 'cjs'}`);
  await esbuild({
    absWorkingDir: project,
    entryPoints: [`${program}.mjs`],
    bundle: true,
    platform: 'node',
    format,
    external,
    outfile: file,
    logLevel: 'silent',
  });
  return file;
}

async function bundledByVite(program: string, ssr: { external?: string[]; noExternal?: true }): Promise<string> {
  const outDir = join(project, 'dist', `vite-${program}-${ssr.noExternal ?? false}`);
  const rolldownOptions = { output: { entryFileNames: 'app.mjs' } };
  await vite({
    root: project,
    configFile: false,
    logLevel: 'silent',
    ssr,
    build: { ssr: `${program}.mjs`, outDir, rolldownOptions },
  });
  return join(outDir, 'app.mjs');
}

describe.each(Object.keys(PROGRAMS))('the %s', (program) => {
  it.each(['esm', 'cjs'] as const)(
    'in a bundle of esbuild (%s) names the remedy, and works as an external',
    async (format) => {
      expect(output(await bundledByEsbuild(program, format, []))).toMatch(REFUSAL);
      expect(output(await bundledByEsbuild(program, format, ['umaprobe']))).toBe('works');
    },
  );

  it('in a bundle of Vite names the remedy, and works as an external', async () => {
    const inside = await bundledByVite(program, { noExternal: true });
    expect(readFileSync(inside, 'utf8')).not.toMatch(/from\s*["']umaprobe/);
    expect(output(inside)).toMatch(REFUSAL);
    expect(output(await bundledByVite(program, { external: ['umaprobe'] }))).toBe('works');
  });
});
