// npm run standalone: umaprobe as one file for each architecture, for machines without Node.
//   node scripts/standalone.mjs [x64] [arm64]     both unless named
// It is Node's single executable application: Node 24, with the package inside, which lib/standalone unpacks. Node 24, because
// 26 needs libatomic.so.1, which small systems do not have. Node 24 cannot make the file alone; postject, which its manual
// names, puts the package into it.
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { bootstrapTypeScript } from './bootstrap.mjs';
import { files as binaries } from './check-prebuilds.mjs';
import { nodeBinary, postject } from './fetch-programs.mjs';
import { readJson } from './packages.mjs';
import { prebuild, requireCompilers, targets } from './prebuild.mjs';
import { capture, findTool, isMain, main, root } from './run.mjs';
import { manifest, unlessCurrent } from './stale.mjs';

/** Its major version. */
export const NODE = '24';
const folder = join(root, 'build-standalone');
const { version, dependencies } = readJson(join(root, 'package.json'));

/** Runs the file that lib/standalone/main.ts has found: import() works in files only. */
const START = "import(require('node:url').pathToFileURL(process.argv[1]).href);\n";

/** The file of an architecture. */
export function standaloneFile(arch) {
  return join(folder, `umaprobe-${version}-linux-${arch}`);
}

/** The files below a folder of the repository that `wanted` takes, by their paths in the package. */
function filesBelow(path, wanted) {
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && wanted.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

/** The packages that run with umaprobe, with their dependencies. */
function packagesToRun() {
  const found = new Set();
  const visit = (name, from) => {
    const path = [join(from, 'node_modules', name), join('node_modules', name)].find((at) =>
      existsSync(join(root, at)),
    );
    if (path === undefined) throw new Error(`node_modules has no ${name}: run npm ci`);
    if (found.has(path)) return;
    found.add(path);
    for (const other of Object.keys(readJson(join(root, path, 'package.json')).dependencies ?? {})) visit(other, path);
  };
  for (const name of Object.keys(dependencies)) visit(name, '');
  return [...found];
}

const CODE = /\.(js|cjs|css)$|^package\.json$|^licen[cs]e(\.\w+)?$/i;

/** The files of a dependency that run with umaprobe; its own packages and programs do not. */
function dependencyFiles(path) {
  const { bin = {} } = readJson(join(root, path, 'package.json'));
  const programs = Object.values(bin).map((file) => join(path, file));
  return filesBelow(path, CODE).filter(
    (file) => !file.startsWith(join(path, 'node_modules/')) && !programs.includes(file),
  );
}

/** Files that the standalone file unpacks: the package without declarations, pages and sources. */
function packageFiles(arch) {
  return [
    'package.json',
    'LICENSE',
    ...filesBelow('dist', CODE),
    ...filesBelow('lib/machines', /\.json$/),
    ...binaries.map((name) => `prebuilds/linux-${arch}/${name}`),
    ...packagesToRun().flatMap(dependencyFiles),
  ].sort();
}

/** Paths of the content of each file of the package. */
function sourcesOf(arch, work) {
  const sources = Object.fromEntries(packageFiles(arch).map((path) => [path, join(root, path)]));
  sources['LICENSE.node'] = join(nodeBinary(arch, NODE), '../../LICENSE');
  sources['start.cjs'] = join(work, 'start.cjs');
  return sources;
}

/** Folders, files, and the name of the folder that they are unpacked into. */
function listOf(sources) {
  const programs = /^prebuilds\/.*\/[\w-]+$/;
  const files = Object.entries(sources).map(([path, source]) => {
    const content = readFileSync(source);
    return { path, size: content.length, sha256: sha256(content), executable: programs.test(path) };
  });
  const folders = new Set();
  for (const { path } of files) for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(at);
  const list = { folders: [...folders].sort(), files };
  return { name: `${version}-${sha256(JSON.stringify(list)).slice(0, 16)}`, ...list };
}

const sha256 = (content) => createHash('sha256').update(content).digest('hex');

/** lib/standalone/main.ts as one file of the format CommonJS, which runs without any other. */
async function bundleMain(file) {
  const build = await rolldown({ input: join(root, 'lib/standalone/main.ts'), platform: 'node' });
  await build.write({ file, format: 'cjs', minify: true });
  await build.close();
}

/** Writes the parts of the file of an architecture, the file and its checksum. */
async function build(arch) {
  const work = join(folder, arch);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const at = (name) => join(work, name);
  writeFileSync(at('start.cjs'), START);
  const sources = sourcesOf(arch, work);
  writeFileSync(at('list.json'), JSON.stringify(listOf(sources)));
  await bundleMain(at('main.cjs'));
  const config = {
    main: at('main.cjs'),
    output: at('blob'),
    disableExperimentalSEAWarning: true,
    assets: { ...sources, 'list.json': at('list.json') },
  };
  writeFileSync(at('sea.json'), JSON.stringify(config));
  // The blob has no machine code: this machine's Node makes it.
  const [here, there] = [nodeBinary(process.arch, NODE), nodeBinary(arch, NODE)];
  capture(here, ['--experimental-sea-config', at('sea.json')]);
  const file = standaloneFile(arch);
  // Node comes with 20 MB of symbols.
  capture(`${targets[arch].prefix}strip`, ['-o', file, there]);
  // A word in Node's binary that postject turns from 0 to 1.
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
  capture(process.execPath, [postject(), file, 'NODE_SEA_BLOB', at('blob'), '--sentinel-fuse', fuse]);
  chmodSync(file, 0o755);
  writeFileSync(`${file}.sha256`, `${sha256(readFileSync(file))}  ${basename(file)}\n`);
  rmSync(at('blob'));
}

/** Makes the file of an architecture unless it is there and current. */
export async function standalone(arch) {
  await bootstrapTypeScript();
  requireCompilers([arch]);
  await prebuild(arch);
  if (findTool(`${targets[arch].prefix}strip`) === null)
    throw new Error(`no ${targets[arch].prefix}strip here (Debian: apt-get install ${targets[arch].debian})`);
  const file = standaloneFile(arch);
  const inputs = ['scripts/standalone.mjs', 'package-lock.json', 'build/dist.stamp', `prebuilds/linux-${arch}.stamp`];
  await unlessCurrent({
    what: `${basename(file)} made`,
    stamp: `build-standalone/${arch}.stamp`,
    now: manifest(['lib'], inputs, [nodeBinary(arch, NODE)]),
    outputs: [file, `${file}.sha256`].map((path) => path.slice(root.length + 1)),
    build: () => build(arch),
  });
  return file;
}

/** The architectures that the command line names; all where it names none. */
export function namedArchitectures(words) {
  const unknown = words.find((arch) => !(arch in targets));
  if (unknown)
    throw new Error(`${unknown} is not a shipped architecture; expected ${Object.keys(targets).join(' or ')}`);
  return words.length > 0 ? words : Object.keys(targets);
}

/** The package inside the file of an architecture, once that is made: its list, and where the content of each file is. */
export function packageInside(arch) {
  const work = join(folder, arch);
  return { ...readJson(join(work, 'list.json')), sources: sourcesOf(arch, work) };
}

export const megabytes = (file) => `${(statSync(file).size / 1e6).toFixed(1)} MB`;

if (isMain(import.meta.url))
  await main(async () => {
    for (const arch of namedArchitectures(process.argv.slice(2))) {
      const file = await standalone(arch);
      console.log(`${file.slice(root.length + 1)}: ${megabytes(file)}, and its checksum in ${basename(file)}.sha256`);
    }
  });
