// npm's install step. The shipped binary fits Linux x64 and arm64 with glibc: then there is nothing to do. On another
// Linux it is built from source. It never fails an installation: without a binary umaprobe still imports and says what
// it cannot do, and whoever depends on it optionally must not be broken by that.
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
    console.error('umaprobe: no shipped binary loads here, building from source');
    await buildNative();
    if (!binaryLoads()) throw new Error('the built binary does not load');
  } catch (error) {
    console.error(`umaprobe: installed without its native part (${error.message}).`);
    console.error('umaprobe: install a C++17 compiler, then run: npm rebuild umaprobe --foreground-scripts');
  }
}
