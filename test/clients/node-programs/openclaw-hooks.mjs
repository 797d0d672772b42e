// Loads a plugin of openclaw without openclaw, which has 95 MB: every import from it is a stand-in, and the function that
// reads the hardware is exported. What the function does is as npm has it.
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

const STAND_IN = 'stand-in:';
/** Module of openclaw → the names that the plugin imports from it. */
const wanted = new Map();

export async function resolve(specifier, context, next) {
  return specifier.startsWith('openclaw/')
    ? { url: STAND_IN + specifier, shortCircuit: true }
    : next(specifier, context);
}

export async function load(url, context, next) {
  if (url.startsWith(STAND_IN)) {
    const names = [...(wanted.get(url.slice(STAND_IN.length)) ?? [])];
    // The one that is called names a folder for data.
    const source = names.map((name) => `export const ${name} = () => ${JSON.stringify(tmpdir())};`).join('\n');
    return { format: 'module', source, shortCircuit: true };
  }
  if (!url.includes('/@openclaw/llama-cpp-provider/')) return next(url, context);
  const source = readFileSync(new URL(url), 'utf8');
  for (const [, list, from] of source.matchAll(/^import \{([^}]*)\} from "(openclaw\/[^"]+)"/gm)) {
    const names = list.split(',').map((part) => part.trim().split(' as ')[0]);
    wanted.set(from, new Set([...(wanted.get(from) ?? []), ...names]));
  }
  const more = url.endsWith('/dist/index.js') ? '\nexport { detectLlamaCppHardware };\n' : '';
  return { format: 'module', source: source + more, shortCircuit: true };
}
