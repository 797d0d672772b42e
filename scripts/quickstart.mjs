// One command for a stranger: where is the memory of this machine, and what does an allocation cost there? Where there
// is no GPU, a simulated one beside it.
import { bootstrap } from './bootstrap.mjs';
import { capture, main, run } from './run.mjs';

const cli = 'dist/cli.js';

/** One that takes all its memory at once beside one that takes it when it is touched; some GB, and nothing stays on disk. */
const sweep = ['sweep', '--kind', 'device,managed', '--preset', 'quick', '--journal', 'none'];

function headline(words) {
  console.log(`\n${words}\n`);
}

await main(async () => {
  await bootstrap();
  headline('This machine — umaprobe snapshot');
  await run(process.execPath, [cli, 'snapshot']);
  const { devices } = JSON.parse(capture(process.execPath, [cli, 'snapshot', '--json']));
  const machine = devices.length > 0 ? [] : ['--sim', 'gb10'];
  if (devices.length === 0) {
    headline(
      'No GPU here that can be used, so a simulated DGX Spark follows — umaprobe snapshot --sim gb10 (simulated)',
    );
    await run(process.execPath, [cli, 'snapshot', ...machine]);
  }
  headline(`What an allocation costs, and which counters it moves — umaprobe ${[...sweep, ...machine].join(' ')}`);
  await run(process.execPath, [cli, ...sweep, ...machine]);
});
