/** How fast is memGetInfoSync() beside the bare CUDA call, and beside what Python users call? Needs a real GPU. */

import { existsSync } from 'node:fs';
import { memGetInfoSync, snapshot } from 'umaprobe';
import { compare, compile, quantile, run, skip, timeSync } from './measure.mjs';

const toolkit = process.env.CUDA_HOME ?? '/usr/local/cuda';
const { devices, simulated } = await snapshot({ memGetInfo: 'never' });
if (devices.length === 0 || simulated !== null)
  skip('memGetInfoSync()', simulated === null ? 'no GPU on this machine' : 'the machine is simulated');
else if (!existsSync(`${toolkit}/include/cuda_runtime_api.h`))
  skip('memGetInfoSync()', 'no CUDA toolkit to build the plain program with');
else {
  const program = compile('mem_get_info.c', [
    `-I${toolkit}/include`,
    `-L${toolkit}/lib64`,
    '-lcudart',
    `-Wl,-rpath,${toolkit}/lib64`,
  ]);
  timeSync(() => memGetInfoSync(), 5_000);
  const ours = [];
  const plain = [];
  for (let round = 0; round < 5; round++) {
    ours.push(
      quantile(
        timeSync(() => memGetInfoSync(), 20_000),
        0.5,
      ),
    );
    plain.push(Number(run(program, ['20000']).split(' ')[0]));
  }
  const mine = quantile(ours, 0.5) / 1e3;
  compare({
    question: 'memGetInfoSync()',
    ours: mine,
    theirs: quantile(plain, 0.5) / 1e3,
    unit: 'µs',
    against: 'C: cudaMemGetInfo',
    atMost: 1.15,
  });
  const script = new URL('plain/mem_get_info.py', import.meta.url).pathname;
  for (const line of run('python3', [script, '20000']).split('\n')) {
    const [name, nanoseconds] = line.split(' ');
    if (Number.isNaN(Number(nanoseconds))) skip('memGetInfoSync()', `${line}`);
    else
      compare({
        question: 'memGetInfoSync()',
        ours: mine,
        theirs: Number(nanoseconds) / 1e3,
        unit: 'µs',
        against: name,
        atMost: 1,
      });
  }
}
