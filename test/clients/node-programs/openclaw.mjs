import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { gib } from './sizes.mjs';

register('./openclaw-hooks.mjs', import.meta.url);
const { detectLlamaCppHardware } = await import('./node_modules/@openclaw/llama-cpp-provider/dist/index.js');
const { accelerator } = await detectLlamaCppHardware({ cacheDir: tmpdir() });
const devices = (accelerator.devices ?? []).map(
  ({ availableMemoryBytes, name, totalMemoryBytes }) =>
    `${name}, ${gib(totalMemoryBytes)}, ${gib(availableMemoryBytes)} available`,
);
console.log(`${accelerator.kind}: ${accelerator.reason ?? devices.join('; ')}`);
