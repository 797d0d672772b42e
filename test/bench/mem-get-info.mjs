/** How fast is memGetInfoSync() beside the bare CUDA call, and beside what Python users call? Needs a real GPU. */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { snapshot } from 'umaprobe';
import { compare, compile, run, skip } from './measure.mjs';

const toolkit = process.env.CUDA_HOME ?? '/usr/local/cuda';
const plain = (name) => fileURLToPath(new URL(`plain/${name}`, import.meta.url));
const question = 'memGetInfoSync()';

/**
 * Each side in many processes, in turns, and the best of each: a process keeps the luck of its start (which core, which
 * pages) for life, and that is worth a microsecond.
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
} else if (!existsSync(`${toolkit}/include/cuda_runtime_api.h`)) {
  skip(question, 'no CUDA toolkit to build the plain program with');
} else {
  const rpath = `-Wl,-rpath,${toolkit}/lib64`;
  const program = compile('mem_get_info.c', [`-I${toolkit}/include`, `-L${toolkit}/lib64`, '-lcudart', rpath]);
  const { ours, bare } = bestOf(12, [
    () => ({ ours: Number(run(process.execPath, [plain('mem-get-info.mjs')])) }),
    () => ({ bare: Number(run(program, ['20000']).split(' ')[0]) }),
  ]);
  const against = (name, theirs, atMost) =>
    compare({ question, ours: ours / 1e3, theirs: theirs / 1e3, unit: 'µs', against: name, atMost });
  against('C: cudaMemGetInfo', bare, 1.15);
  const python = () => {
    const lines = run('python3', [plain('mem_get_info.py'), '20000']).split('\n');
    return Object.fromEntries(lines.map((line) => line.split(' ')).map(([name, value]) => [name, Number(value)]));
  };
  for (const [name, theirs] of Object.entries(bestOf(3, [python]))) {
    if (Number.isNaN(theirs)) skip(question, `${name} is not installed`);
    else against(name, theirs, 1);
  }
}
