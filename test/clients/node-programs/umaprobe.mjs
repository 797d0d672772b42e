import { memory } from 'umaprobe';
import { gib } from './sizes.mjs';

const { available, free, safe, total, unified } = await memory();
const whose = unified ? 'shared by CPU and GPU' : "the GPU's own";
console.log(`${whose}: ${gib(total)}, free ${gib(free)}, available ${gib(available)}, safe ${gib(safe)}`);
