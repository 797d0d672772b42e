/** What `guard --system` may stop, and in which order. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownerOf } from '../../../../lib/core/host/owner.ts';
import { NEVER_STOPPED } from '../../../../lib/run/guard/never-stopped.ts';
import { candidates, checkPolicy } from '../../../../lib/run/guard/policy.ts';
import type { GuardPolicy, ProcessesReport } from '../../../../lib/types/index.ts';
import { ROOT } from '../../../support/root.ts';
import { parseDocument } from '../../../support/schemas.ts';
import { GiB } from '../../../support/units.ts';

type Report = Pick<ProcessesReport, 'groups' | 'memoryModel' | 'processes'>;
let next = 100;

/** A group with one process of this name. */
function group(id: string, gpuGiB: number | null, heldGiB: number, process = 'python3') {
  const pid = next++;
  const [kind = '', name = ''] = id.split(/:(.*)/);
  const gpuBytes = gpuGiB === null ? null : gpuGiB * GiB;
  const sizes = { held: heldGiB * GiB, gpuBytes };
  return {
    group: {
      id,
      kind: kind === 'unit' || kind === 'tree' ? kind : 'container',
      name,
      rootPid: pid,
      pids: [pid],
      ...sizes,
    },
    process: { pid, name: process, ...sizes },
  };
}
function reportOf(...groups: ReturnType<typeof group>[]): Report {
  return {
    memoryModel: 'unified',
    groups: groups.map((one) => one.group),
    processes: groups.map((one) => one.process),
  } as unknown as Report;
}
const names = (report: Report, policy: GuardPolicy = {}, self = 1) =>
  candidates(report, policy, self).map(({ name }) => name);

const machine = reportOf(
  group('unit:ollama.service', 10, 2),
  group('unit:vllm@a.service', 60, 5),
  group('docker:3f4e0c1b2a9d', 30, 40),
  group('unit:postgresql.service', null, 20, 'postgres'),
  group('unit:gdm.service', 1, 1, 'gdm-x-session'),
  group('unit:my-desktop.service', 2, 1, 'gnome-shell'),
  group('unit:ssh.service', 0, 1, 'sshd'),
  group('unit:systemd-journald.service', 0, 1, 'systemd-journal'),
  group('tree:4711', 50, 50),
);

describe('what may be stopped', () => {
  it('where the GPU has memory of its own: the largest holder of the host first, because the GPU gives the host nothing back', () => {
    expect(names({ ...machine, memoryModel: 'discrete' })).toEqual([
      '3f4e0c1b2a9d',
      'vllm@a.service',
      'ollama.service',
    ]);
    expect(names({ ...machine, memoryModel: 'coherent' }, { order: 'memory' })[0]).toBe('3f4e0c1b2a9d');
  });

  it('without a policy: units and containers with GPU memory, the largest first; no desktop, no login session', () => {
    expect(names(machine)).toEqual(['vllm@a.service', '3f4e0c1b2a9d', 'ollama.service']);
  });

  it('with one: what it names, in its order', () => {
    const mayStop = ['ollama.service', 'docker:*', 'vllm@*'];
    expect(names(machine, { mayStop, order: 'listed' })).toEqual(['ollama.service', '3f4e0c1b2a9d', 'vllm@a.service']);
    expect(names(machine, { mayStop, order: 'memory' })).toEqual(['3f4e0c1b2a9d', 'vllm@a.service', 'ollama.service']);
    expect(names(machine, { mayStop: ['postgresql.service'] })).toEqual(['postgresql.service']);
    expect(names(machine, { mayStop: [] })).toEqual([]);
    expect(names(machine, { never: ['vllm*.service'] })).toEqual(['3f4e0c1b2a9d', 'ollama.service']);
  });

  it.each([
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*ba', 'aba', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a*b*b', 'a-b', false],
    ['*', 'anything', true],
    ['b*', 'ab', false],
    ['*a', 'ab', false],
    ['a', 'ab', false],
  ])('takes %s for a pattern of %s: %s', (pattern, name, isOne) => {
    expect(names(reportOf(group(`docker:${name}`, 5, 5)), { mayStop: [pattern] })).toEqual(isOne ? [name] : []);
  });

  it('names units with or without .service, in both lists', () => {
    expect(names(machine, { mayStop: ['ollama', 'vllm@*'], order: 'listed' })).toEqual([
      'ollama.service',
      'vllm@a.service',
    ]);
    expect(names(machine, { never: ['ollama', 'vllm@a'] })).toEqual(['3f4e0c1b2a9d']);
  });

  it('never the unit of the guard itself', () => {
    const own = group('unit:tools.service', 5, 5);
    expect(names(reportOf(own), { mayStop: ['*'] }, own.process.pid)).toEqual([]);
  });
});

/** As packages of Debian, Ubuntu, DGX OS, Fedora and snaps name them; and units that they make at run time. */
const KEPT = `
  systemd-journald systemd-logind systemd-udevd systemd-networkd systemd-resolved systemd-timesyncd systemd-oomd systemd-machined
  dbus dbus-broker polkit accounts-daemon rtkit-daemon sssd sssd-nss nscd
  getty@tty1 serial-getty@ttyAMA0 ssh sshd ssh@0-192.168.1.7:22-192.168.1.9:51234 sshd@3-10.0.0.1:22-10.0.0.2:4711 dropbear cockpit
  xrdp xrdp-sesman x11vnc tigervncserver@:1 gnome-remote-desktop sunshine qemu-guest-agent google-guest-agent
  snap.amazon-ssm-agent.amazon-ssm-agent
  NetworkManager NetworkManager-dispatcher NetworkManager-wait-online networking ifup@enP7s7 netplan-wpa-wlP9s9 wpa_supplicant
  wpa_supplicant@wlan0 dhcpcd dhcpcd@eth0 isc-dhcp-server iwd hostapd ModemManager bluetooth connman wicked lldpd openvswitch-switch
  ovs-vswitchd rdma-ndd openibd frr bird
  dnsmasq unbound named bind9 resolvconf avahi-daemon ufw firewalld nftables netfilter-persistent fail2ban
  tailscaled wg-quick@wg0 openvpn@client openvpn-client@office strongswan strongswan-starter zerotier-one netbird cloudflared
  snap.tailscale.tailscaled flanneld
  gdm gdm3 sddm lightdm greetd cosmic-greeter cosmic-greeter-daemon display-manager ly@tty2 org.gnome.Shell@wayland
  gnome-session-manager@ubuntu gnome-terminal-server plasma-kwin_wayland plasma-plasmashell xdg-desktop-portal seatd at-spi-dbus-bus
  app-org.kde.konsole@5f0a1b2c3d app-org.gnome.Terminal@autostart
  docker containerd podman podman-restart snapd snap.docker.dockerd snap.docker.nvidia-container-toolkit snap.lxd.daemon
  snap.microk8s.daemon-kubelite snap.microk8s.daemon-containerd snap.k8s.kubelet snap.multipass.multipassd kubelet k3s k3s-agent
  rke2-server rke2-agent k0scontroller k0sworker crio cri-docker lxd incus incus-lxcfs lxc-net lxcfs lxc@web libvirtd virtqemud virtlogd
  buildkit etcd slurmd munge
  multipathd iscsid open-iscsi nfs-server nfs-mountd nfsdcld rpcbind rpc-statd rpc-gssd autofs lvm2-lvmpolld lvm2-monitor dm-event
  zfs-zed zfs-mount mdmonitor mdadm-shutdown udisks2 cachefilesd zramswap
  chrony chronyd ntpsec ptp4l rsyslog syslog-ng auditd atop sysstat watchdog wd_keepalive earlyoom nohang thermald upower
  power-profiles-daemon nut-server irqbalance rasdaemon smartmontools prometheus-node-exporter
  nvidia-persistenced nvidia-fabricmanager nvidia-dcgm nvidia-powerd nvidia-imex nvidia-suspend nvsm-core dgx-dashboard
  dgx-dashboard-admin nv-hostengine dcgm-exporter nvpmodel nvargus-daemon
  umaprobe-guard umaprobe-record`
  .trim()
  .split(/\s+/);

/** Paths of cgroups as in /proc/<pid>/cgroup. */
const ID = '3f4e0c1b2a9d'.repeat(6).slice(0, 64);
const WORKLOADS = [
  ...`vllm vllm@qwen3 vllm-server sglang ollama llama-server llama.cpp llama-swap llamacpp rpc-server tritonserver triton tgi lmdeploy
  tensorrt-llm trtllm-serve text-generation-webui koboldcpp tabbyapi exllama localai lmstudio open-webui comfyui ComfyUI
  stable-diffusion-webui invokeai automatic1111 fooocus whisper faster-whisper moshi jupyter jupyterhub jupyterlab@ann
  snap.ollama.listener snap.comfyui.server training train@7 ray ray-head dask-worker mlflow frigate immich-machine-learning
  immich-server nv-ingest nim docker-vllm docker-compose@llm podman-ollama container-vllm birdnet-go cron supervisor pm2-ann
  run-r5a1f0c3b9d2e4f run-u42 postgresql plexmediaserver jellyfin`
    .trim()
    .split(/\s+/)
    .map((name) => `/system.slice/${name}.service`),
  '/user.slice/user-1000.slice/user@1000.service/app.slice/vllm.service',
  `/system.slice/docker-${ID}.scope`,
  `/docker/${ID}`,
  `/system.slice/snap.docker.dockerd.service/docker/${ID}`,
  `/user.slice/user-1000.slice/user@1000.service/app.slice/docker-${ID}.scope`,
  `/machine.slice/libpod-${ID}.scope/container`,
  `/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-${ID}.scope`,
  `/system.slice/vllm-quadlet.service/libpod-payload-${ID}`,
  `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-${ID}.scope`,
  `/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1.slice/crio-${ID}.scope`,
  `/kubepods/besteffort/pod1/${ID}`,
  `/k3s.service/kubepods/pod1/${ID}`,
  `/system.slice/snap.microk8s.daemon-kubelite.service/kubepods/pod1/${ID}`,
  '/lxc.payload.gpu-box/init.scope',
];

describe('whatever a policy says', () => {
  const everything: GuardPolicy = { mayStop: ['*'] };
  const ownerIn = (path: string) => ownerOf(`0::${path}\n`)?.id ?? 'none:';

  it('knows enough names', () => {
    expect(new Set(KEPT).size).toBeGreaterThan(150);
    expect(new Set(WORKLOADS).size).toBeGreaterThan(60);
  });

  it.each(KEPT)('%s is never stopped', (name) => {
    const id = ownerIn(`/system.slice/${name}.service`);
    expect(names(reportOf(group(id, 50, 50)), everything)).toEqual([]);
    expect(names(reportOf(group(id, 50, 50)), { mayStop: [`${name}.service`, name] })).toEqual([]);
  });

  it.each(WORKLOADS)('%s may be', (path) => {
    expect(names(reportOf(group(ownerIn(path), 50, 50)))).toHaveLength(1);
  });

  it.each([
    ['unit:login-here.service', 'sshd'],
    ['unit:my-bus.service', 'dbus-broker-lau'],
    ['unit:wifi.service', 'wpa_supplicant'],
    ['unit:my-docker.service', 'dockerd'],
    ['unit:kiosk.service', 'cage'],
    ['unit:shell.service', 'kitty'],
    ['unit:mesh.service', 'tailscaled'],
    ['docker:3f4e0c1b2a9d', 'tailscaled'],
    ['containerd:3f4e0c1b2a9d', 'kube-proxy'],
  ])('nor %s with %s', (id, process) => {
    expect(names(reportOf(group(id, 50, 50, process)), everything)).toEqual([]);
  });

  it('a container with a sshd or a systemd of its own may be', () => {
    for (const process of ['sshd', 'systemd', 'dbus-daemon'])
      expect(names(reportOf(group('docker:3f4e0c1b2a9d', 50, 50, process)))).toEqual(['3f4e0c1b2a9d']);
  });

  it('programs of login sessions have no unit', () => {
    for (const path of [
      'session-3.scope',
      'user@1000.service/app.slice/app-gnome-code-4711.scope',
      'user@1000.service/init.scope',
    ])
      expect(ownerOf(`0::/user.slice/user-1000.slice/${path}\n`)).toBeNull();
  });

  it('the page has the table', () => {
    const page = readFileSync(join(ROOT, 'docs/guard-system.md'), 'utf8');
    for (const { units, what } of NEVER_STOPPED)
      expect(page).toContain(`| ${what} | ${units.map((unit) => `\`${unit}\``).join(', ')} |\n`);
    const shown = /\| Never stopped \|.*/s.exec(page)?.[0].trim().split('\n') ?? [];
    expect(shown).toHaveLength(NEVER_STOPPED.length + 2);
  });
});

describe('a policy', () => {
  it('that the page shows is one', () => {
    const page = readFileSync(join(ROOT, 'docs/guard-system.md'), 'utf8');
    const shown = /```json\n(.*?)```/s.exec(page)?.[1] ?? '';
    expect(checkPolicy(parseDocument(shown))).toMatchObject({ order: 'gpu' });
  });

  it.each([
    [{ maystop: [] }, 'policy has no option "maystop". Did you mean mayStop?'],
    [{ mayStop: 'vllm' }, 'mayStop is "vllm"; expected an array of names, such as ["vllm*.service"]'],
    [{ never: ['a/b'] }, 'never[0] is "a/b"; expected a name, such as "vllm*.service"'],
    [{ order: 'rss' }, 'order is "rss"; expected one of gpu, memory, listed'],
    [{ schema: 'umaprobe/guard-policy/2' }, 'schema is "umaprobe/guard-policy/2"; expected umaprobe/guard-policy/1'],
    [[], 'policy is an array; expected an object with schema, mayStop, never, order'],
  ])('%j is refused', (policy, message) => {
    expect(() => checkPolicy(policy)).toThrow(message);
  });
});
