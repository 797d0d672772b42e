import { getLlama } from 'node-llama-cpp';

const llama = await getLlama({ gpu: 'auto', build: 'never', skipDownload: true });
const { free, total, unifiedSize } = await llama.getVramState();
console.log(`GPU ${llama.gpu}: VRAM ${total}, free ${free}, unifiedSize ${unifiedSize}`);
await llama.dispose();
