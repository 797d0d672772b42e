// A first look in one command: the use of this machine's memory, and the cost of an allocation; without a GPU also on a
// simulated machine.
import { bootstrap } from './bootstrap.mjs';
import { capture, main, run } from './run.mjs';

const cli = 'dist/cli.js';

/** An eager kind of memory and one that is allocated on first touch; a few GB, and no journal. */
const sweep = ['sweep', '--kind', 'device,managed', '--preset', 'quick', '--journal', 'none'];

function headline(text) {
  console.log(`\n${text}\n`);
}

await main(async () => {
  await bootstrap();
  headline('This machine — umaprobe snapshot');
  await run(process.execPath, [cli, 'snapshot']);
  const { devices } = JSON.parse(capture(process.execPath, [cli, 'snapshot', '--json']));
  const machine = devices.length > 0 ? [] : ['--sim', 'gb10'];
  if (devices.length === 0) {
    headline(
      'No usable GPU on this machine, so a simulated DGX Spark follows — umaprobe snapshot --sim gb10 (simulated)',
    );
    await run(process.execPath, [cli, 'snapshot', ...machine]);
  }
  headline(`What an allocation costs, and which counters it moves — umaprobe ${[...sweep, ...machine].join(' ')}`);
  await run(process.execPath, [cli, ...sweep, ...machine]);
});
