/** How fast is memGetInfoSync(), compared with the bare CUDA call, and with the calls of Python users? Needs a real GPU. */

import { existsSync } from 'node:fs';
import { snapshot } from 'umaprobe';
import { CUDA_TOOLKIT, compare, compile, plainPath, run, skip } from './measure.mjs';

const question = 'memGetInfoSync()';

/**
 * The best of many processes of each side, run alternately: the core and the pages that a process starts with change its
 * times by a microsecond.
 */
function bestOf(rounds, sides) {
  const best = sides.map(() => ({}));
  for (let round = 0; round < rounds; round++) {
    for (const [at, side] of sides.entries()) {
      for (const [name, nanoseconds] of Object.entries(side())) {
        best[at][name] = Math.min(nanoseconds, best[at][name] ?? Number.POSITIVE_INFINITY);
      }
    }
  }
  return Object.assign({}, ...best);
}

const { devices, simulated } = await snapshot({ memGetInfo: 'never' });
if (devices.length === 0 || simulated !== null) {
  skip(question, simulated === null ? 'no GPU on this machine' : 'the machine is simulated');
} else if (!existsSync(`${CUDA_TOOLKIT}/include/cuda_runtime_api.h`)) {
  skip(question, 'no CUDA toolkit to build the plain program with');
} else {
  const rpath = `-Wl,-rpath,${CUDA_TOOLKIT}/lib64`;
  const program = compile('mem_get_info.c', [
    `-I${CUDA_TOOLKIT}/include`,
    `-L${CUDA_TOOLKIT}/lib64`,
    '-lcudart',
    rpath,
  ]);
  const { ours, bare } = bestOf(12, [
    () => ({ ours: Number(run(process.execPath, [plainPath('mem-get-info.mjs')])) }),
    () => ({ bare: Number(run(program, ['20000']).split(' ')[0]) }),
  ]);
  const against = (name, theirs, atMost) =>
    compare({ question, ours: ours / 1e3, theirs: theirs / 1e3, unit: 'µs', against: name, atMost });
  against('C: cudaMemGetInfo', bare, 1.15);
  const python = () => {
    const lines = run('python3', [plainPath('mem_get_info.py'), '20000']).split('\n');
    return Object.fromEntries(lines.map((line) => line.split(' ')).map(([name, value]) => [name, Number(value)]));
  };
  for (const [name, theirs] of Object.entries(bestOf(3, [python]))) {
    if (Number.isNaN(theirs)) skip(question, `${name} is not installed`);
    else against(name, theirs, 1);
  }
}
