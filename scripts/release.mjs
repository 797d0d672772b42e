// What a release consists of, in build-release:  node scripts/release.mjs v1.2.3
// The package, a standalone file and a Debian package for each architecture, what is inside (CycloneDX), checksums, and
// NOTES.md, the part of the changelog. .github/workflows/release.yml publishes these files and builds nothing else.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readJson } from './packages.mjs';
import { targets } from './prebuild.mjs';
import { capture, isMain, main, root, run } from './run.mjs';

const folder = join(root, 'build-release');
const { name, version } = readJson(join(root, 'package.json'));

/** The part of the changelog of one version; an error if there is none: a release without notes was tagged too early. */
export function notesOf(changelog, version) {
  const parts = changelog.split(/^## (?=\S)/m);
  const part = parts.find((text) => text.startsWith(`${version}\n`) || text.startsWith(`${version} `));
  if (part === undefined)
    throw new Error(`CHANGELOG.md has no part "## ${version}": name the version where it says Unreleased`);
  return `${part.slice(part.indexOf('\n') + 1).trim()}\n`;
}

/** An error unless the tag names the version of the package. */
export function checkTag(tag, version) {
  if (tag !== `v${version}`)
    throw new Error(`the tag is ${tag ?? 'missing'}; expected v${version}, as package.json has it`);
}

/** Lines as sha256sum writes them. */
export function checksums(files) {
  return files
    .map((file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}\n`)
    .join('');
}

/** The packages that run with this one, as CycloneDX. npm takes the name of the folder for ours. */
export function billOfMaterials() {
  const flags = ['--package-lock-only', '--omit', 'dev', '--sbom-format', 'cyclonedx'];
  const bill = JSON.parse(capture('npm', ['sbom', ...flags]));
  bill.metadata.component.name = name;
  return `${JSON.stringify(bill, null, 2)}\n`;
}

if (isMain(import.meta.url))
  await main(async () => {
    checkTag(process.argv[2], version);
    const notes = notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    await run('npm', ['pack', '--pack-destination', folder]);
    // They import packages, which npm pack has installed.
    const { deb } = await import('./deb.mjs');
    const { standaloneFile } = await import('./standalone.mjs');
    for (const arch of Object.keys(targets)) {
      for (const file of [await deb(arch), standaloneFile(arch)]) copyFileSync(file, join(folder, basename(file)));
    }
    writeFileSync(join(folder, `${name}-${version}.cdx.json`), billOfMaterials());
    const files = readdirSync(folder).sort();
    writeFileSync(join(folder, 'SHA256SUMS'), checksums(files.map((file) => join(folder, file))));
    writeFileSync(join(folder, 'NOTES.md'), notes);
    for (const file of files) console.log(`build-release/${file}`);
  });
