import llama from '@fugood/llama.node';
import { gib } from './sizes.mjs';

const devices = await llama.getBackendDevicesInfo();
console.log(devices.map(({ deviceName, maxMemorySize }) => `${deviceName}: ${gib(maxMemorySize)}`).join(', '));
