// npm run clients: programs that know nothing of umaprobe, for test/clients to run on simulated machines.
// They come from Debian, from the mirror that this machine's apt already uses, and go into folders of their own
// (build-clients/<release>), one for each release of Debian: nothing is installed, and root is not needed. The release
// need not be this machine's: build-clients/<release>/run/<program> starts a program with the C library of its folder.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { capture, findTool, isMain, main, root } from './run.mjs';

/** The packages of each release and the programs that tests run. Dependencies of a package come along. */
export const CLIENTS = {
  bookworm: {
    'hwloc-nox': ['lstopo-no-graphics'],
    'libhwloc-contrib-plugins': [], // built with CUDA 11
    nvtop: ['nvtop'],
    prometheus: ['prometheus', 'promtool'],
    'prometheus-alertmanager': ['prometheus-alertmanager'],
  },
  trixie: {
    btm: ['btm'],
    btop: ['btop'],
    cargo: ['cargo'],
    gpustat: ['gpustat'],
    'hwloc-nox': ['lstopo-no-graphics'],
    'libhwloc-contrib-plugins': [], // built with CUDA 12
    'libnvidia-ml-dev': [], // nvml.h, for test/sim/sim/library/abi.test.ts
    'librust-nvml-wrapper-dev': [],
    nvitop: ['nvitop'],
    nvtop: ['nvtop'],
    'python3-pynvml': ['python3'],
    rustc: ['rustc'],
  },
};

/**
 * Packages that are said to be installed, so that they are not fetched: the simulated machine has the libraries of the
 * driver, and this machine has a compiler of C.
 */
const PROVIDED = [
  'binutils (= 2.44-3)',
  'gcc (= 4:14.2.0-1)',
  'libc6-dev (= 2.41-12)',
  'libc-dev (= 2.41-12)',
  'libcuda1 (= 550.163.01-2)',
  'libcudart11.0 (= 11.8.89~11.8.0-5~deb12u1)',
  'libcudart12 (= 12.4.127~12.4.1-2)',
  'libnvidia-ml1 (= 550.163.01-2)',
];

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** The folder of a release. */
export function clientsFolder(release) {
  return join(root, 'build-clients', release);
}

/** Changes with anything that decides the content of a release's folder. */
function tableOf(release) {
  const script = readFileSync(join(root, 'scripts', 'debian-clients.mjs'));
  return createHash('sha256').update(script).update(release).digest('hex');
}

/** Versions of the packages in the folder of a release; null: it is not there, or it was made from another table. */
export function clientVersions(release) {
  const list = join(clientsFolder(release), 'packages.json');
  if (!existsSync(list)) return null;
  const { table, versions } = JSON.parse(readFileSync(list, 'utf8'));
  return table === tableOf(release) ? versions : null;
}

/** The Debian mirror among the sources of this machine's apt. */
function mirror() {
  const format = '$(ORIGIN) $(REPO_URI) $(CODENAME)';
  const sources = capture('apt-get', ['indextargets', '--format', format, 'Identifier: Packages']).split('\n');
  const found = sources
    .map((line) => line.split(' '))
    .find(([origin, , codename]) => origin === 'Debian' && /^[a-z]+$/.test(codename ?? ''));
  if (found === undefined) throw new Error('the sources of apt name no Debian mirror; run apt-get update first');
  return found[1];
}

/** An apt of its own, which knows one release and believes that nothing but PROVIDED is installed. */
function aptFor(folder, release, uri) {
  for (const path of ['etc/preferences.d', 'lists/partial', 'cache/archives/partial'])
    mkdirSync(join(folder, path), { recursive: true });
  const write = (name, lines) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  write('etc/sources.list', [`deb [signed-by=${KEYRING}] ${uri} ${release} main contrib non-free`]);
  write('status', [
    'Package: simulated-machine',
    'Status: install ok installed',
    'Version: 1',
    'Architecture: all',
    'Maintainer: none',
    'Description: stands in for libraries of the driver and for a compiler',
    `Provides: ${PROVIDED.join(', ')}`,
  ]);
  write('apt.conf', [
    `Dir::Etc "${folder}/etc";`,
    'Dir::Etc::sourceparts "-";',
    `Dir::State "${folder}";`,
    `Dir::State::status "${folder}/status";`,
    `Dir::Cache "${folder}/cache";`,
    'APT::Sandbox::User "";', // the folder may be one that the user _apt cannot enter
    'Acquire::Languages "none";',
  ]);
  const env = { ...process.env, APT_CONFIG: join(folder, 'apt.conf'), DEBIAN_FRONTEND: 'noninteractive' };
  return (...args) => capture('apt-get', ['-qq', ...args], { env });
}

/** Unpacks the packages into the folder; answers their versions. */
function unpack(archives, folder) {
  const packages = readdirSync(archives).filter((name) => name.endsWith('.deb'));
  return Object.fromEntries(
    packages.map((name) => {
      const file = join(archives, name);
      capture('dpkg-deb', ['-x', file, folder]);
      const fields = capture('dpkg-deb', ['-f', file, 'Package', 'Version']);
      return ['Package', 'Version'].map((field) => new RegExp(`^${field}: (.*)$`, 'm').exec(fields)?.[1]);
    }),
  );
}

/** The folders of a release with libraries, and the loader in one of them. */
function loaderIn(folder) {
  const libraries = ['usr/lib', 'lib'].flatMap((lib) =>
    existsSync(join(folder, lib))
      ? readdirSync(join(folder, lib))
          .filter((name) => name.endsWith('-linux-gnu'))
          .map((name) => join(lib, name))
      : [],
  );
  for (const library of libraries) {
    const loader = readdirSync(join(folder, library)).find((name) => /^ld-linux-.*\.so\.\d$/.test(name));
    if (loader !== undefined) return { libraries, loader: join(library, loader) };
  }
  throw new Error(`no loader in ${folder}: are the packages of libc6 complete?`);
}

/** Writes run/<program>: starts it with the loader, the libraries, the Python and the plugins of the folder it lies in. */
function writeStarters(folder, programs) {
  const { libraries, loader } = loaderIn(folder);
  mkdirSync(join(folder, 'run'));
  for (const program of programs) {
    const path = join(folder, 'usr/bin', program);
    const script = readFileSync(path).subarray(0, 2).toString() === '#!';
    const file = join(folder, 'run', program);
    writeFileSync(
      file,
      `#!/bin/sh
root=$(dirname "$(dirname "$(realpath "$0")")")
PYTHONHOME=$root/usr HWLOC_PLUGINS_PATH=$root/${libraries[0]}/hwloc
export PYTHONHOME HWLOC_PLUGINS_PATH
exec "$root/${loader}" --library-path "\${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${libraries.map((library) => `$root/${library}`).join(':')}" \\
  ${script ? '"$root/usr/bin/python3" ' : ''}"$root/usr/bin/${program}" "$@"
`,
    );
    chmodSync(file, 0o755);
  }
}

function fetchRelease(release, uri) {
  const folder = clientsFolder(release);
  const partial = `${folder}.partial`;
  for (const path of [folder, partial]) rmSync(path, { recursive: true, force: true });
  const own = join(partial, 'apt');
  const apt = aptFor(own, release, uri);
  apt('update');
  apt('install', '-y', '--no-install-recommends', '--download-only', ...Object.keys(CLIENTS[release]));
  const versions = unpack(join(own, 'cache/archives'), partial);
  rmSync(own, { recursive: true });
  writeStarters(partial, Object.values(CLIENTS[release]).flat());
  writeFileSync(join(partial, 'packages.json'), `${JSON.stringify({ table: tableOf(release), versions }, null, 2)}\n`);
  renameSync(partial, folder);
  return versions;
}

if (isMain(import.meta.url))
  await main(() => {
    for (const tool of ['apt-get', 'dpkg-deb'])
      if (findTool(tool) === null) throw new Error(`${tool} is not on PATH: the clients come from Debian`);
    for (const [release, packages] of Object.entries(CLIENTS)) {
      const versions = clientVersions(release) ?? fetchRelease(release, mirror());
      const list = Object.keys(packages).map((name) => `${name} ${versions[name]}`);
      console.log(`${release}: ${list.join(', ')}`);
    }
  });
