import si from 'systeminformation';
import { gib } from './sizes.mjs';

const [{ controllers }, mem] = await Promise.all([si.graphics(), si.mem()]);
const [gpu] = controllers;
console.log(`${gpu.name}: memoryTotal ${gpu.memoryTotal}, memoryFree ${gpu.memoryFree}`);
console.log(`total ${gib(mem.total)}, free ${gib(mem.free)}, available ${gib(mem.available)}`);
