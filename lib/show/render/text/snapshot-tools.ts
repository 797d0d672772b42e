/** Free memory by each tool's count, with its rule. */
import { clean, inGiB } from '../../../base/format.ts';
import { contextFailure } from '../../../core/memory/device-health.ts';
import type { DeviceFailure, DeviceSnapshot, HostMemory, Snapshot, ViewName } from '../../../types/index.ts';
import { amount, meter, type RenderOptions } from '../options.ts';
import { padEnd, padStart, truncate } from '../text-layout.ts';
import { shortReason } from './snapshot-devices.ts';

export const TOOLS: Readonly<Record<ViewName, string>> = {
  cudaMemGetInfo: 'cudaMemGetInfo',
  torch: 'PyTorch',
  vllm: 'vLLM',
  sglang: 'SGLang',
  llamaCpp: 'llama.cpp',
  nvidiaGuidance: "NVIDIA's guidance",
  nvidiaSmi: 'nvidia-smi',
};

export function toolsTable(snapshot: Snapshot, options: RenderOptions): string[] {
  return snapshot.devices.flatMap((device) => {
    const onDevice = snapshot.devices.length === 1 ? '' : ` on GPU ${device.index}`;
    return [
      options.paint('heading', `What each tool counts as free${onDevice}`),
      ...deviceRows(device, snapshot.host, options),
    ];
  });
}

/** A shorter bar says nothing. */
const MIN_CELLS = 8;

function deviceRows(device: DeviceSnapshot, host: HostMemory, options: RenderOptions): string[] {
  const names = Object.keys(TOOLS) as ViewName[];
  const whole = device.memoryModel === 'unified' ? host.total : (device.nvml?.total ?? device.cuda?.total ?? 0);
  const failed = contextFailure(device);
  const numbers = names.map((name) =>
    failed !== undefined && name in FAILED_RULES && device.views[name] === null
      ? 'failed'
      : numberOf(device.views[name], options),
  );
  const nameWidth = Math.max(...names.map((name) => TOOLS[name].length));
  const numberWidth = Math.max(...numbers.map((text) => text.length));
  const room = options.width - nameWidth - numberWidth - 6;
  const cells = Math.min(30, Math.max(MIN_CELLS, Math.floor(room * 0.4)));
  const hasBar = room >= MIN_CELLS;
  const ruleWidth = options.cut - nameWidth - numberWidth - (hasBar ? cells + 8 : 4);
  return names.map((name, index) => {
    const bar = hasBar ? `  ${meter(device.views[name], whole, cells, 'notice', options)}` : '';
    const rule = truncate(clean(ruleOf(name, device)), Math.max(0, ruleWidth));
    return `${padEnd(TOOLS[name], nameWidth)}${bar}  ${padStart(numbers[index] ?? '', numberWidth)}  ${options.paint('dim', rule)}`.trimEnd();
  });
}

/** Each tool's behaviour if cudaMemGetInfo, or the context that it needs, fails. */
const FAILED_RULES: Readonly<Partial<Record<ViewName, (failure: DeviceFailure) => string>>> = {
  cudaMemGetInfo: ({ name, status }) => (status === null ? name : `error ${status}`),
  torch: () => 'asks cudaMemGetInfo',
  vllm: () => 'asks cudaMemGetInfo first',
  sglang: () => 'selects the device first',
  llamaCpp: () => 'cudaMemGetInfo failed',
};

function numberOf(bytes: number | null, options: RenderOptions): string {
  if (options.exact) return amount(bytes, options);
  return bytes === null ? 'unknown' : `${inGiB(bytes)} GiB`;
}

function ruleOf(name: ViewName, device: DeviceSnapshot): string {
  const unified = device.memoryModel === 'unified';
  if (name === 'nvidiaGuidance' && !unified) return 'for unified memory only';
  const failed = contextFailure(device);
  if (failed !== undefined && name in FAILED_RULES) return FAILED_RULES[name]?.(failed) ?? '';
  const rule = device.from[`views.${name}`] ?? '';
  if (device.views[name] === null) return shortReason(rule);
  switch (name) {
    case 'cudaMemGetInfo':
      if (unified) return device.cuda === null ? 'MemFree (not asked)' : 'MemFree';
      return 'free memory of the GPU';
    case 'torch':
      return 'asks cudaMemGetInfo';
    case 'nvidiaSmi':
      return 'free according to NVML';
    default:
      return shortRule(rule);
  }
}

/** The rule in the document's sentence (core/memory/views.ts), in a few words: it is not decided again here. */
function shortRule(rule: string): string {
  const fallback = /found 0 by (HugePages_Free)?/.exec(rule);
  if (fallback !== null)
    return `${fallback[1] === undefined ? 'no MemAvailable' : 'no free huge page'}: asks cudaMemGetInfo`;
  if (/takes HugePages_Free/.test(rule)) return 'free huge pages only';
  if (/takes MemAvailable/.test(rule)) return 'MemAvailable';
  if (/takes cudaMemGetInfo/.test(rule)) return 'asks cudaMemGetInfo';
  return rule;
}
