/** The judgement of a machine: one answer, from the one table of findings (findings/). */

import { capitalized, clean, formatBytes } from '../../base/format.ts';
import type { Finding, Judgement, Level, Reading, SafeRange, Snapshot } from '../../types/index.ts';
import { answeredDevice, isRoomKnown } from './answer.ts';
import { largestHolder } from './findings/available.ts';
import { findingsOf } from './findings/index.ts';
import { whyNoGpu } from './findings/libraries.ts';
import type { Facts } from './findings/row.ts';
import { hasUnknownPools, isMuchHidden, unattributed } from './headroom.ts';
import { isUntried, UNTRIED } from './untried-context.ts';

/** Judges a reading, and puts the consequences for a load into its devices. */
export function judged(reading: Reading | Snapshot, facts: Omit<Facts, 'snapshot'> = {}): Snapshot {
  // The devices of a snapshot have it already.
  if ('judgement' in reading) return { ...reading, judgement: judge({ ...facts, snapshot: reading }) };
  const withPools = { ...reading, devices: reading.devices.map((device) => withHiddenPools(device, reading)) };
  const found = findingsOf({ ...facts, snapshot: withPools });
  const decisive = found.findings.find(refuses) ?? found.findings.find(({ id }) => id === 'driver.contexts');
  const devices = withPools.devices.map((device) => (decisive === undefined ? device : withDecision(device, decisive)));
  const snapshot = { ...withPools, devices };
  return { ...snapshot, judgement: judgementOf(snapshot, found) };
}

/** The same for a snapshot that more is known of, such as its processes. */
export function judge(facts: Facts): Judgement {
  const { snapshot } = facts;
  return judgementOf(snapshot, findingsOf(facts));
}

export function refuses({ effect }: Finding): boolean {
  return effect.does === 'refuses';
}

/** How a reason to load nothing now begins. */
export const NOT_NOW = 'not now: ';

/** The most urgent finding that refuses every load now; undefined: none. */
export function refusalOf({ findings }: Judgement): Finding | undefined {
  return findings.find(refuses);
}

type Device = Reading['devices'][number];

/** Freed memory in driver pools that this user cannot read may be as much as is in no counter. */
function withHiddenPools(device: Device, reading: Reading): Device {
  const { safe, safeHigh } = device.allocatable;
  const rest = unattributed(reading);
  const isHidden = device.memoryModel === 'unified' && hasUnknownPools(reading) && isMuchHidden(rest, reading);
  if (!isHidden || safeHigh === null || safe === null) return device;
  const why = `up to ${formatBytes(rest)} more may be in the driver’s pools, which only root can read`;
  const between = device.from['allocatable.safeHigh'];
  return {
    ...device,
    allocatable: { ...device.allocatable, safeHigh: safeHigh + rest },
    from: { ...device.from, 'allocatable.safeHigh': between === undefined ? why : `${between}; ${why}` },
  };
}

/**
 * Nothing is safe to load while a finding refuses; the amount that can be loaded is unknown if CUDA itself fails, or if
 * it is not known that a program can start at all.
 */
function withDecision(device: Device, finding: Finding): Device {
  if (device.allocatable.safe === null) return device;
  return {
    ...device,
    allocatable: { ...device.allocatable, safe: refuses(finding) ? 0 : null },
    from: {
      ...device.from,
      'allocatable.safe': refuses(finding) ? `nothing while this lasts: ${finding.summary}` : finding.summary,
      'allocatable.safeHigh': `what could be loaded otherwise: ${device.from['allocatable.safe'] ?? ''}`,
    },
  };
}

function judgementOf(snapshot: Reading, found: Pick<Judgement, 'findings' | 'notJudged'>): Judgement {
  const { findings, notJudged } = found;
  const safe = safeRange(snapshot);
  const [first] = findings.filter(({ normal }) => !normal);
  const level: Level = first?.severity ?? (notJudged.length > 0 || safe.bytes === null ? 'notice' : 'ok');
  return { level, mayLoad: mayLoad(findings, safe), safe, ...reasonOf(snapshot, found, first), ...found };
}

function mayLoad(findings: readonly Finding[], { bytes, high }: SafeRange): Judgement['mayLoad'] {
  if (findings.some(refuses)) return 'not-now';
  if (bytes === null) return 'unknown';
  if (bytes > 0) return 'yes';
  return high !== null && high > 0 ? 'after' : 'not-now';
}

function safeRange(snapshot: Reading): SafeRange {
  const device = answeredDevice(snapshot);
  if (device === undefined) return { bytes: null, high: null, from: 'no GPU of known memory' };
  const { safe, safeHigh } = device.allocatable;
  return { bytes: safe, high: safeHigh, from: clean(device.from['allocatable.safe'] ?? '') };
}

function reasonOf(
  snapshot: Reading,
  { findings, notJudged }: Pick<Judgement, 'findings' | 'notJudged'>,
  first: Finding | undefined,
): Pick<Judgement, 'because' | 'next'> {
  if (snapshot.devices.length === 0) {
    const next = snapshot.simulated === null ? 'see a simulated one: umaprobe --sim gb10' : null;
    // The libraries are in the sentence about the GPU; of findings as severe as theirs another one says more.
    const other = findings.find(({ id, severity }) => severity === first?.severity && !id.startsWith('library.'));
    const noGpu = `No GPU: ${whyNoGpu(snapshot)}.`;
    if (other === undefined) return { because: noGpu, next };
    const hidden = other.id === 'cuda.visible';
    return { because: hidden ? sentence(other) : `${sentence(other)} ${noGpu}`, next: nextOf(other) };
  }
  if (first !== undefined) {
    // Low memory is said beside a warning about something else, and so is what refuses every load, with what to do about it.
    const low = findings.find(({ id }) => id === 'memory.available');
    const other = low ?? findings.find(refuses);
    // A lost GPU has said why CUDA refuses.
    if (other === undefined || other === first || refuses(first) || first.id === 'gpu.state')
      return { because: sentence(first), next: nextOf(first) };
    return { because: `${sentence(first)} ${other.summary}`, next: nextOf(low === undefined ? other : first) };
  }
  const holder = largestHolder(snapshot.devices.flatMap((device) => device.processes ?? []));
  if (notJudged.length > 0)
    return { because: `${capitalized(notJudged.map(({ why }) => why).join(', and '))}.${holder}`, next: null };
  if (!isRoomKnown(snapshot))
    return {
      because: `How much can be allocated on the GPU is not known; nothing else stands in the way.${holder}`,
      next: null,
    };
  // A reading without a context does not find out that none can be created.
  const untried = snapshot.devices.some(isUntried) ? ` ${UNTRIED}` : '';
  return { because: `Nothing stands in the way.${untried}${holder}`, next: null };
}

function sentence({ cause, summary }: Finding): string {
  return cause === null ? summary : `${summary} ${cause}`;
}

function nextOf({ remedy }: Finding): string | null {
  return remedy?.text ?? null;
}
