/** What a release consists of: its tag, its notes, its checksums and its bill of materials. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { billOfMaterials, checksums, checkTag, notesOf } from '../../../scripts/release.mjs';
import { root } from '../../../scripts/run.mjs';
import { temporaryFolder } from '../../support/temporary-folder.ts';

it('takes the tag of the version alone', () => {
  expect(() => checkTag('v1.2.3', '1.2.3')).not.toThrow();
  for (const tag of ['1.2.3', 'v1.2.30', 'v1.2.3-rc.1', undefined])
    expect(() => checkTag(tag, '1.2.3')).toThrow(`the tag is ${tag ?? 'missing'}; expected v1.2.3`);
});

it('has the part of the changelog of this version as its notes', () => {
  const changelog =
    '# Changelog\n\n## 1.2.30\n\nlater\n\n## 1.2.3 - 2026-11-29\n\n### Added\n\n- This.\n\n## 1.2.2\n\nThat.\n';
  expect(notesOf(changelog, '1.2.3')).toBe('### Added\n\n- This.\n');
  expect(notesOf(changelog, '1.2.30')).toBe('later\n');
  expect(() => notesOf('## Unreleased\n\nThis.\n', '1.2.3')).toThrow('CHANGELOG.md has no part "## 1.2.3"');
});

it('has checksums that sha256sum checks', () => {
  const folder = temporaryFolder('release');
  const files = ['one', 'two'].map((name) => join(folder, name));
  for (const file of files) writeFileSync(file, file);
  writeFileSync(join(folder, 'SHA256SUMS'), checksums(files));
  const check = () => spawnSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' });
  expect(check().stdout).toBe('one: OK\ntwo: OK\n');
  writeFileSync(join(folder, 'two'), 'changed');
  expect(check().stdout).toBe('one: OK\ntwo: FAILED\n');
});

it('lists what runs with the package, and nothing else', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const { packages } = read('package-lock.json') as { packages: Record<string, { version: string; dev?: boolean }> };
  const wanted = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version }]) => `pkg:npm/${path.replace(/^.*node_modules\//, '')}@${version}`);
  const bill = JSON.parse(billOfMaterials());
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'umaprobe' } } });
  const listed = (bill.components as { purl: string }[]).map(({ purl }) => purl);
  expect(listed.sort()).toEqual(wanted.sort());
  for (const name of Object.keys(read('package.json').dependencies))
    expect(listed.filter((purl) => purl.startsWith(`pkg:npm/${name}@`)).length).toBe(1);
});
