// npm's install step. On Linux x64 and arm64 with glibc the shipped binary loads, and there is nothing to do. On
// another Linux the binary is built from source. A failure never fails the installation: without a binary umaprobe can
// be imported and reports what is missing, and packages that depend on it optionally keep working.
import { createRequire } from 'node:module';
import { root } from './run.mjs';

const require = createRequire(import.meta.url);

function binaryLoads() {
  try {
    require(require('node-gyp-build').path(root));
    return true;
  } catch {
    return false;
  }
}

if (process.platform === 'linux' && !binaryLoads()) {
  try {
    const { buildNative } = await import('./native-build.mjs');
    console.error('umaprobe: no shipped binary loads on this machine; building from source');
    await buildNative();
    if (!binaryLoads()) throw new Error('the built binary does not load');
  } catch (error) {
    console.error(`umaprobe: installed without its native part (${error.message}).`);
    console.error('umaprobe: install a C++17 compiler, then run: npm rebuild umaprobe --foreground-scripts');
  }
}
