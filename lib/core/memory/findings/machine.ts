/** Rows that only doctor's own readings can judge: the access of this process, and the rules of other programs. */

import { capitalized, formatBytes } from '../../../base/format.ts';
import { type ForeignRule, foreignRules } from '../foreign-rules.ts';
import { unifiedDevice } from '../headroom.ts';
import { advice, applies, meminfo, passed, REFUSES, type Row, text, unknown } from './row.ts';

/** Rights by access(2), not by user id: root in a container with a read-only /proc/sys may not write there. */
export const permissions: Row = {
  needs: ['access'],
  judge({ access, snapshot }) {
    if (access === undefined) return unknown('what this process may open was not looked at');
    const evidence = () => [
      ...access.nodes.flatMap((node) => text(node, access.closed.includes(node) ? 'closed' : 'open', 'access(2)')),
      ...Object.entries(access.settings).flatMap(([name, may]) => text(name, may ? 'open' : 'closed', 'access(2)')),
    ];
    if (snapshot.simulated !== null) return passed('A simulated machine has no device nodes and no rights.', evidence);
    if (access.closed.length > 0)
      return applies({
        severity: 'warning',
        summary: `This user may not open ${access.closed.join(', ')}.`,
        effect: REFUSES,
        evidence,
        remedy: advice('join the group that owns them (ls -l /dev/nvidia*), often video or render'),
      });
    if (access.nodes.length === 0) return passed('There are no device nodes (/dev/nvidia*) to check.', evidence);
    return passed(
      access.settings.drop_caches === true
        ? 'All device nodes can be used, and this process may drop caches.'
        : 'All device nodes can be used; dropping caches needs root and a writable /proc/sys.',
      evidence,
    );
  },
};

export const OVERSUBSCRIPTION = '/sys/module/nvidia_uvm/parameters/uvm_global_oversubscription';

export const oversubscription: Row = {
  needs: ['oversubscription'],
  judge({ oversubscription: value }) {
    if (value === null || value === undefined) return unknown('the parameter of nvidia_uvm is not readable here');
    const evidence = () => text('uvm_global_oversubscription', value, OVERSUBSCRIPTION);
    // open-gpu-kernel-modules #1358: with 0 an unrecoverable hang became an OOM kill of sshd, and the machine kept
    // running.
    return value === '0'
      ? passed(
          'Running out of memory ends in the OOM killer, which may kill unrelated processes such as sshd.',
          evidence,
        )
      : passed(
          'The default: managed memory may exceed physical memory. Setting it to 0 trades a possible freeze for OOM kills.',
          evidence,
        );
  },
};

/** Programs of this machine that act on a share of MemTotal, and would act now. */
export const thresholds: Row = {
  needs: ['cuda'],
  judge({ programs, snapshot }) {
    const { available } = snapshot.host;
    if (unifiedDevice(snapshot) === undefined)
      return passed('Only on a GPU that shares the host’s memory do the rules of other programs misfire.');
    const rules = foreignRules(snapshot.host);
    if (rules === null) return unknown('MemAvailable is not known');
    const evidence = () => [
      ...meminfo(snapshot, 'available', 'total'),
      ...rules.flatMap(({ name, process, text: rule }) =>
        text(name, rule(), process !== null && programs?.has(process) === true ? 'running here' : 'its default'),
      ),
    ];
    const acting = rules.filter(({ actsNow }) => actsNow);
    // An alert elsewhere has no process here to look for.
    if (acting.every(({ process }) => process === null) && acting.length > 0)
      return passed(`${actingText(acting, available)} Whether anybody has such an alert is not seen here.`, evidence);
    if (acting.length === 0) return passed('No known rule of another program would act now.', evidence);
    if (programs === undefined || programs === null)
      return unknown('which programs run cannot be read', evidence, { matters: true });
    const misfiring = acting.filter(({ process }) => process !== null && programs.has(process));
    if (misfiring.length === 0)
      return passed(`${actingText(acting, available)} None of these programs is seen running here.`, evidence);
    return applies({
      severity: 'warning',
      summary: `${misfiring.map((rule) => ruleText(rule, available)).join(' ')} CUDA memory is in no process’s resident set, so the kill frees little of it.`,
      evidence,
      remedy: advice(misfiring.map(({ remedy }) => remedy).join('; ')),
    });
  },
};

function actingText(rules: readonly ForeignRule[], available: number | null): string {
  return `${capitalized(rules.map(({ name, text: rule }) => `${name} ${rule()}`).join('; '))}: ${formatBytes(available)} are.`;
}

/** "Ray’s memory monitor kills workers below 6.0 GiB available: 4.9 GiB are." */
function ruleText({ name, text: rule }: ForeignRule, available: number | null): string {
  return `${capitalized(name)} ${rule()}: ${formatBytes(available)} are.`;
}
