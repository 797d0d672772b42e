import { formatBytes, formatPercent } from '../../../base/format.ts';
import { advice, type Message, words } from './message.ts';

const REMEDIES = [
  advice(
    'raise Ray’s threshold: on unified memory the weights count as host memory',
    'export RAY_memory_usage_threshold=0.98',
  ),
  advice('or switch its monitor off', 'export RAY_memory_monitor_refresh_ms=0'),
];

const RAY = {
  code: 'ray-oom',
  program: 'Ray',
  verdict: 'limit',
  meaning(numbers) {
    const [used, total] = [numbers.get('used')?.bytes ?? null, numbers.get('total')?.bytes ?? null];
    const seen = used === null || total === null ? '' : ` (${formatBytes(used)} of ${formatBytes(total)})`;
    return `Ray’s own monitor ended a worker because the node used more than its threshold${seen}; the kernel had killed nobody. On unified memory weights on the GPU count as used, so any model above the threshold trips it.`;
  },
  now(numbers, { snapshot: { host } }) {
    if (host.available === null) return null;
    const used = (host.total - host.available) / host.total;
    const limit = numbers.get('threshold')?.value ?? 0.95;
    return `${formatPercent(used * 100)} of this machine are in use by Ray’s count now, ${used > limit ? 'above' : 'below'} the threshold of ${formatPercent(limit * 100)}.`;
  },
  remedies: REMEDIES,
} satisfies Partial<Message>;

export const RAY_MESSAGES: readonly Message[] = [
  {
    ...RAY,
    anchors: ['running low on memory', 'memory usage threshold', 'Memory on the node'],
    pattern: words`(?:killed due to the node running low on memory|Memory on the node (?:\([^)]{0,120}\) )?(?:where the task (?:\([^)]{0,300}\) )?was running )?was [\d.]{1,12} ?GB)`,
    // The sizes are divided by 2^30: a Spark has 119.64 "GB" (node_manager.cc).
    fields: {
      used: /was ([\d.]{1,12} ?GB) ?\//i,
      total: /was [\d.]{1,12} ?GB ?\/ ?([\d.]{1,12} ?GB)/i,
      fraction: /GB \(([\d.]{1,12})\)/i,
      threshold: /memory usage threshold of ([\d.]{1,8}\d)/i,
    },
    binary: true,
    after: 800,
    followUps: /Memory on the node [^/]{0,500}was [\d.]{1,12} ?GB|exceeds the memory usage threshold of [\d.]{1,10}/i,
  },
  {
    ...RAY,
    anchors: ['killed due to memory pressure'],
    pattern: words`(?<workersKilled>{int}) Workers? \(tasks / actors\) killed due to memory pressure`,
  },
];

export const LMDEPLOY: readonly Message[] = [
  {
    code: 'lmdeploy-kv-truncated',
    program: 'LMDeploy',
    anchors: ['limited KV cache memory'],
    pattern: words`session_len.{0,2} truncated to (?<sessionLen>{int}) due to limited KV cache memory`,
    fields: { warmup: /Warm-up for (\d{1,9}) tokens failed/i },
    verdict: 'limit',
    meaning:
      'LMDeploy cut the context to what its KV cache holds. For MLA models some versions count the cache as if every head were full, and cut although memory is free.',
    remedies: [
      advice('give the cache a larger share', '--cache-max-entry-count 0.9'),
      advice('or a smaller type', '--quant-policy 8'),
    ],
  },
];
