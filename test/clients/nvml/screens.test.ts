/** Monitors that draw on a terminal: nvtop, btop, and bottom, which reads NVML by Rust's nvml-wrapper. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientPath, missingClients, type Release, whileHolding } from '../../support/debian.ts';
import { withMachine } from '../../support/machines.ts';
import { ROOT } from '../../support/root.ts';
import { missingTerminal, screenOf } from '../../support/screen.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const missing = missingClients('trixie') ?? missingClients('bookworm') ?? missingTerminal;
const GIB = 2 ** 30;

/** The page, whose ```text blocks show screens. */
const PAGE = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8');

/** Folders for the settings of programs, with those of btop: its picture of the GPU alone, drawn twice a second. */
function settings(): Record<string, string> {
  const home = temporaryFolder('monitors');
  mkdirSync(join(home, 'btop'));
  writeFileSync(join(home, 'btop/btop.conf'), 'shown_boxes = "gpu0"\nupdate_ms = 500\n');
  return { HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home };
}

/** The screen of a program on a machine on which another process holds 2 GiB, and that process. */
function screenBeside(machine: string, release: Release, program: string, args: string[], shows: RegExp) {
  return withMachine(machine, (simulation) =>
    whileHolding(simulation, 2 * GIB, async (pid) => {
      const env = { ...simulation.foreignEnv(), ...settings() };
      return { pid, lines: await screenOf([clientPath(release, program), ...args], env, shows) };
    }),
  );
}

describe.skipIf(missing !== null)(`screens${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  describe.each<[Release, string]>([
    ['bookworm', 'FAN N/A%'],
    ['trixie', '  FAN N/A  '],
  ])('nvtop of %s', (release, fan) => {
    it('gb10: as owners report it, with the memory of the process and none of the device', async () => {
      const { pid, lines } = await screenBeside('gb10', release, 'nvtop', [], /Compute +\S+ +2304MiB/);
      expect(lines[0]).toBe(' Device 0 [NVIDIA GB10] PCIe GEN 1@ 1x RX: N/A TX: N/A');
      expect(lines[1]).toBe(` GPU 208MHz  MEM N/A MHz TEMP  40°C ${fan} POW   4 W`);
      expect(lines[2]).toBe(' GPU[                           0%] MEM[                          N/A]');
      expect(lines.find((line) => line.includes(`${pid} `))).toMatch(/ 0 +Compute +\S+ +2304MiB/);
      if (release === 'trixie') expect(PAGE).toContain(lines.slice(0, 3).join('\n'));
    });

    it('h200', async () => {
      const { pid, lines } = await screenBeside('h200', release, 'nvtop', [], /Compute +\S+ +2574MiB/);
      expect(lines[0]).toBe(' Device 0 [NVIDIA H200] PCIe GEN 5@16x RX: 0.000 KiB/s TX: 0.000 KiB/s');
      expect(lines[1]).toMatch(/ GPU 345MHz {2}MEM 3201MHz TEMP {2}29°C +FAN N\/A%? +POW {2}77 \/ 700 W/);
      expect(lines[2]).toMatch(/MEM\[\|* +3\.115Gi\/140\.401Gi\]/);
      expect(lines.find((line) => line.includes(`${pid} `))).toMatch(/ 0 +Compute +\S+ +2574MiB +2%/);
    });
  });

  it('btop on gb10: no memory, no limits', async () => {
    const { lines } = await screenBeside('gb10', 'trixie', 'btop', ['--utf-force'], /P-state: +P8/);
    const screen = lines.join('\n');
    expect(screen).toMatch(/┐GB10┌─+┐208 Mhz┌/);
    expect(screen).toMatch(/GPU ■+ +0% .* 40°C/);
    expect(screen).toMatch(/PWR ■+ +4W P-state: +P8/);
    expect(screen).not.toMatch(/vram|TX:/);
    const [head = '', ...box] = lines.flatMap(
      (line) => /│?(╭─┐GB10.*╮|│(?:GPU|PWR) ■.*│|╰─+╯)│$/.exec(line)?.[1] ?? [],
    );
    expect(PAGE).toContain([head, ...box].join('\n'));
  });

  it('btop on h200', async () => {
    const { lines } = await screenBeside('h200', 'trixie', 'btop', ['--utf-force'], /RX:/);
    const screen = lines.join('\n');
    expect(screen).toMatch(/┐H200┌─+┐345 Mhz┌/);
    expect(screen).toMatch(/PWR ■+ +77W P-state: +P0/);
    expect(screen).toMatch(/vram.*3201 Mhz.*Used:─+3\.11 GiB/);
    expect(screen).toMatch(/Total: +140 GiB │ +2%/);
    expect(screen).toMatch(/TX:.*0 KiB\/s.*RX:.*0 KiB\/s/);
  });

  it('bottom on gb10: the temperature, and no line of GPU memory', async () => {
    const { lines } = await screenBeside('gb10', 'trixie', 'btm', [], /NVIDIA GB10 +40°C/);
    const screen = lines.join('\n');
    expect(screen).toMatch(/NVIDIA GB10 +40°C/);
    expect(screen).not.toMatch(/GPU:|GB10:/);
  });

  it('bottom on h200: used and total memory', async () => {
    const { lines } = await screenBeside('h200', 'trixie', 'btm', ['--basic'], /GPU\[.*140\.4GiB/);
    expect(lines.join('\n')).toMatch(/GPU\[\|* +3\.1GiB\/140\.4GiB\]/);
  });
});
