// A process on one simulated machine that answers command lines: node ask.mjs MACHINE, as a child with an IPC channel. Each
// message is an array of words; the answer has what the built command prints for them, and its exit code.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
/** What dist/cli.js starts: it calls main() with this process's own streams. */
const [entry] = readdirSync(dist).filter((name) => /^main-[^.]+\.js$/.test(name));
const { main } = await import(join(dist, entry));
const { activate, simulate } = await import(join(dist, 'sim.js'));

process.once('disconnect', () => process.exit());
activate(simulate(process.argv[2]));

async function answer(words) {
  const texts = { stdout: '', stderr: '' };
  const into = (name) =>
    new Writable({
      write(chunk, _, done) {
        texts[name] += chunk;
        done();
      },
    });
  const io = { stdin: Readable.from([]), stdout: into('stdout'), stderr: into('stderr'), env: process.env };
  const code = await main(words, io);
  process.send({ code, ...texts });
}

process.on('message', answer);
