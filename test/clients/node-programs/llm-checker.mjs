import UnifiedDetector from 'llm-checker/src/hardware/unified-detector.js';

const detector = new UnifiedDetector();
const { summary } = await detector.detect();
const { gpuModel, hardwareTier, totalVRAM } = summary;
console.log(
  `${gpuModel}: ${totalVRAM} GB of VRAM, tier ${hardwareTier}, models up to ${detector.getMaxModelSize()} GB`,
);
