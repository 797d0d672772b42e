// Counts how often each file is opened: in this process by `countOpens()`, and in one that is started with
// NODE_OPTIONS=--import and UMAPROBE_TEST_OPENS=<file>, which gets the counts when the process exits.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const CALLBACK_AND_SYNC = ['open', 'openSync', 'readFile', 'readFileSync', 'openAsBlob'];
const PROMISES = ['open', 'readFile'];

/** Starts to count. Returns a function that ends it and gives path → number of opens. */
export function countOpens() {
  /** @type {Record<string, number>} */
  const counts = {};
  const restore = [...CALLBACK_AND_SYNC.map((name) => [fs, name]), ...PROMISES.map((name) => [fs.promises, name])].map(
    ([owner, name]) => {
      const original = owner[name];
      owner[name] = (path, ...rest) => {
        counts[String(path)] = (counts[String(path)] ?? 0) + 1;
        return original.call(owner, path, ...rest);
      };
      return () => {
        owner[name] = original;
      };
    },
  );
  syncBuiltinESMExports();
  return () => {
    for (const undo of restore) undo();
    syncBuiltinESMExports();
    return counts;
  };
}

const { UMAPROBE_TEST_OPENS: target } = process.env;
if (target !== undefined) {
  const end = countOpens();
  process.on('exit', () => fs.writeFileSync(target, JSON.stringify(end())));
}
