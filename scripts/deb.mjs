// npm run deb: the standalone file as a Debian package for each architecture.
//   node scripts/deb.mjs [x64] [arm64]     both unless named
// The package that the standalone file would unpack is installed beside it: nothing is written into the homes of users. The
// services are not enabled.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readJson } from './packages.mjs';
import { capture, findTool, isMain, main, root } from './run.mjs';
import { megabytes, namedArchitectures, packageInside, standalone } from './standalone.mjs';

const { homepage, version } = readJson(join(root, 'package.json'));
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
const REVISION = `${version}-1`;
const MAINTAINER = 'The umaprobe authors <umaprobe@users.noreply.github.com>';
const PROGRAM = 'usr/lib/umaprobe/umaprobe';

/** The package of an architecture. */
export function debFile(arch) {
  return join(root, 'build-standalone', `umaprobe_${REVISION}_${ARCHITECTURES[arch]}.deb`);
}

/** The libraries that Node 24 links; libgcc-s1 was libgcc1 until Debian 10. */
const DEPENDS = 'libc6 (>= 2.28), libgcc-s1 | libgcc1, libstdc++6 (>= 7)';

function control(arch, installedKiB) {
  return `Package: umaprobe
Version: ${REVISION}
Architecture: ${ARCHITECTURES[arch]}
Maintainer: ${MAINTAINER}
Installed-Size: ${installedKiB}
Depends: ${DEPENDS}
Section: utils
Priority: optional
Homepage: ${homepage.replace('#readme', '')}
Description: how much memory an NVIDIA DGX Spark (GB10) really has
 Shows where the memory of a machine is whose CPU and GPU share it, says how
 much a program can load, tests allocations without freezing the machine, and
 gives memory back.
 .
 Node.js is inside: none needs to be installed. The services umaprobe-guard,
 umaprobe-record and umaprobe-serve are installed, and not enabled.
`;
}

/** Time of the last commit, so that the same tree makes the same package. */
function time() {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given) return Number(given);
  try {
    return Number(capture('git', ['log', '-1', '--format=%ct']));
  } catch {
    return Math.floor(Date.now() / 1000);
  }
}

function debianChangelog(seconds) {
  const date = new Date(seconds * 1000).toUTCString().replace('GMT', '+0000');
  return `umaprobe (${REVISION}) unstable; urgency=medium

  * Version ${version}: what changed is in changelog.gz.

 -- ${MAINTAINER}  ${date}
`;
}

/** Every licence of what is inside but Node's, which is long and lies beside the program. */
function copyright({ name, files, sources }) {
  const licences = files.filter(({ path }) => /(^|\/)licen[cs]e(\.\w+)?$/i.test(path) && path !== 'LICENSE.node');
  return `umaprobe, ${homepage.replace('#readme', '')}

Files: usr/lib/umaprobe/umaprobe holds Node.js, whose licence, with those of the
libraries in it, is in /usr/lib/umaprobe/${name}/LICENSE.node.

${licences.map(({ path }) => `${path === 'LICENSE' ? 'umaprobe' : dirname(path)}:\n\n${readFileSync(sources[path], 'utf8').trim()}\n`).join('\n')}`;
}

/** A unit of systemd/, which names the steps if no package is installed. */
function unit(name) {
  return readFileSync(join(root, 'systemd', name), 'utf8')
    .replace(/^# Copy it to .*?\(command -v umaprobe\)\.\s*/m, (all) => (all.endsWith('\n') ? '' : '# '))
    .replaceAll('/usr/bin/env umaprobe', '/usr/bin/umaprobe');
}

function fill(tree, arch, seconds) {
  const write = (path, content, mode = 0o644) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), content);
    chmodSync(join(tree, path), mode);
  };
  const compressed = (path, content) => write(`${path}.gz`, gzipSync(content, { level: 9 }));
  const inside = packageInside(arch);
  for (const { path, executable } of inside.files)
    write(join('usr/lib/umaprobe', inside.name, path), readFileSync(inside.sources[path]), executable ? 0o755 : 0o644);
  // Other programs are told to look here: the folder above changes with each version.
  for (const path of filesOf(join(root, 'monitoring')).filter((file) => !file.endsWith('.test.yml'))) {
    const file = join(root, 'monitoring', path);
    write(join('usr/share/umaprobe/monitoring', path), readFileSync(file), statSync(file).mode & 0o111 ? 0o755 : 0o644);
  }
  copyFileSync(join(root, 'build-standalone', `umaprobe-${version}-linux-${arch}`), join(tree, PROGRAM));
  mkdirSync(join(tree, 'usr/bin'));
  symlinkSync('../lib/umaprobe/umaprobe', join(tree, 'usr/bin/umaprobe'));
  for (const name of readdirSync(join(root, 'systemd'))) write(`usr/lib/systemd/system/${name}`, unit(name));
  const completion = (shell) => capture(process.execPath, ['dist/cli.js', 'completion', shell]);
  write('usr/share/bash-completion/completions/umaprobe', completion('bash'));
  write('usr/share/zsh/vendor-completions/_umaprobe', completion('zsh'));
  write('usr/share/fish/vendor_completions.d/umaprobe.fish', completion('fish'));
  compressed('usr/share/man/man1/umaprobe.1', readFileSync(join(root, 'dist/umaprobe.1')));
  write('usr/share/doc/umaprobe/copyright', copyright(inside));
  compressed('usr/share/doc/umaprobe/changelog', readFileSync(join(root, 'CHANGELOG.md')));
  compressed('usr/share/doc/umaprobe/changelog.Debian', debianChangelog(seconds));
  write('usr/share/lintian/overrides/umaprobe', readFileSync(join(root, 'scripts/debian/lintian-overrides')));
  for (const name of ['postinst', 'prerm', 'postrm'])
    write(`DEBIAN/${name}`, readFileSync(join(root, 'scripts/debian', name)), 0o755);
  const files = filesOf(tree).filter((path) => !path.startsWith('DEBIAN/'));
  const md5 = (path) =>
    createHash('md5')
      .update(readFileSync(join(tree, path)))
      .digest('hex');
  write('DEBIAN/md5sums', files.map((path) => `${md5(path)}  ${path}\n`).join(''));
  const bytes = files.reduce((sum, path) => sum + statSync(join(tree, path)).size, 0);
  write('DEBIAN/control', control(arch, Math.ceil(bytes / 1024)));
}

/** The files below the tree, without links. */
function filesOf(tree) {
  return readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(tree.length + 1))
    .sort();
}

/** Makes the package of an architecture. */
export async function deb(arch) {
  if (findTool('dpkg-deb') === null) throw new Error('no dpkg-deb here: the package is made on Debian or Ubuntu');
  await standalone(arch);
  const tree = join(root, 'build-standalone', `deb-${arch}`);
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  const seconds = time();
  fill(tree, arch, seconds);
  const file = debFile(arch);
  // gzip: a fifth larger than xz, in a quarter of its time.
  const args = ['--root-owner-group', '-Zgzip', '--build', tree, file];
  capture('dpkg-deb', args, { env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) } });
  rmSync(tree, { recursive: true });
  return file;
}

if (isMain(import.meta.url))
  await main(async () => {
    for (const arch of namedArchitectures(process.argv.slice(2))) {
      const file = await deb(arch);
      console.log(`build-standalone/${basename(file)}: ${megabytes(file)}`);
    }
  });
