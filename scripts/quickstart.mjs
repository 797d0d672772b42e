// One command for a stranger: where is the memory of this machine? Where there is no GPU, a simulated one beside it.
import { bootstrap } from './bootstrap.mjs';
import { capture, main, run } from './run.mjs';

await main(async () => {
  await bootstrap();
  console.log(`\nThis machine — umaprobe snapshot\n`);
  await run(process.execPath, ['dist/cli.js', 'snapshot']);
  const { devices } = JSON.parse(capture(process.execPath, ['dist/cli.js', 'snapshot', '--json']));
  if (devices.length > 0) return;
  console.log(
    '\nNo GPU here that can be used, so a simulated DGX Spark follows — umaprobe snapshot --sim gb10 (simulated)\n',
  );
  await run(process.execPath, ['dist/cli.js', 'snapshot', '--sim', 'gb10']);
});
