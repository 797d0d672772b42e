// Rewrites the ```console blocks of the documentation with the output of the built command.
//
//   node scripts/bootstrap.mjs && node scripts/refresh-docs.mjs            all pages
//   node scripts/bootstrap.mjs && node scripts/refresh-docs.mjs snapshot   pages whose path contains "snapshot"
//
// A line `…` stays, and with it the part that the page leaves out: what is shown reaches from its first to its last line
// that is still in the output. Left alone are blocks that test/sim/docs accepts and whose amounts of memory are right
// (that test masks all numbers), and blocks with skip=, clients, and root without root. Lines that are no longer printed,
// and exit codes that differ, are reported: read the diff before you commit it. A new block: the command, and `?` below it.
import { main, run } from './run.mjs';

await main(() =>
  run('npx', ['vitest', 'run', '--project', 'sim', '--reporter=dot', 'test/sim/docs'], {
    env: { ...process.env, UMAPROBE_REFRESH_DOCS: process.argv[2] ?? '' },
  }),
);
