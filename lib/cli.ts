#!/usr/bin/env node
/**
 * The `umaprobe` command: says so where Node is too old for it, and else starts it. Node 12 has to parse what this file
 * becomes, so it has no `??`, no top-level await, and imports nothing else before the check.
 */

import { oldNode } from './base/node-version.ts';

if (oldNode === null) {
  import('./cli/start.ts').catch((error: Error) => {
    process.stderr.write(`umaprobe: it could not be loaded: ${error.message}\n`);
    process.exitCode = 1;
  });
} else {
  const message = `${oldNode}. Get one from https://nodejs.org/en/download, or run it with a newer one this once: npx node@24 ${process.argv[1]}`;
  const error = {
    code: 'ERR_USAGE',
    message,
    exitCode: 2,
    source: null,
    call: null,
    status: null,
    nativeName: null,
    detail: null,
  };
  if (process.argv.includes('--json'))
    process.stdout.write(`${JSON.stringify({ schema: 'umaprobe/error/1', error })}\n`);
  process.stderr.write(`${message}\n`);
  process.exitCode = 2;
}
