/**
 * Processes that `guard --system` never stops, whatever a policy says. The rule: nobody can log in, reach the machine,
 * see what happened, or start anything without these. The OOM killer of a Spark took sshd and NetworkManager
 * (open-gpu-kernel-modules #1358). docs/guard-system.md shows this table; a test compares them.
 */

export interface NeverStopped {
  what: string;
  /** Names of units without `.service`; `*` stands for any characters. */
  units: readonly string[];
  /** Names of processes (at most 15 characters) that make a unit one of those, under whatever name it runs. */
  processes?: readonly string[];
  /** Such processes protect their container as well: the network of a cluster may be one. */
  alsoContainers?: true;
}

/** Names with spaces or line ends between them. */
function names(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

export const NEVER_STOPPED: readonly NeverStopped[] = [
  {
    what: 'init, systemd and its parts',
    units: names('init systemd-* initrd-* emergency rescue debug-shell plymouth* udev elogind'),
    processes: names('systemd init'),
  },
  {
    what: 'message bus, permissions, accounts',
    units: names(`
      dbus* polkit* accounts-daemon rtkit-daemon sssd* nscd unscd nslcd winbind ypbind authd* himmelblaud* realmd
      oddjobd fprintd pcscd
    `),
    processes: names('dbus-daemon dbus-broker dbus-broker-lau polkitd sssd'),
  },
  {
    what: 'terminals and remote login',
    units: names(`
      getty* serial-getty@* console-getty container-getty@* autovt@* kmsconvt@* ssh ssh@* sshd* dropbear* telnet*
      cockpit* ttyd* shellinabox webmin xrdp* x11vnc* vncserver* tigervncserver* wayvnc* nxserver dcv* sunshine*
      anydesk rustdesk teamviewerd chrome-remote-desktop@* qemu-guest-agent open-vm-tools vmtoolsd walinuxagent
      waagent google-guest-agent* *amazon-ssm-agent*
    `),
    processes: names('sshd dropbear agetty login xrdp'),
  },
  {
    what: 'network: managers, addresses, wireless',
    units: names(`
      NetworkManager* nm-* networking network netplan* ifup@* ifplugd* wicked* connman* dhcpcd* dhclient* isc-dhcp-*
      kea-* udhcp* wpa_supplicant* iwd hostapd* ModemManager bluetooth teamd@* lldp* openvswitch* ovs* ovn-* frr bird
      bird6 keepalived* openibd opensm* rdma-* ibacm srp_daemon*
    `),
    processes: names('NetworkManager wpa_supplicant iwd dhcpcd dhclient connmand ovs-vswitchd'),
  },
  {
    what: 'names, firewalls',
    units: names(`
      resolvconf* dnsmasq* unbound* named* bind9 stubby dnscrypt-proxy pihole-FTL avahi-daemon ufw firewalld nftables
      iptables* ip6tables* netfilter-persistent shorewall* fail2ban
    `),
  },
  {
    what: 'VPN, tunnels, networks of clusters',
    units: names(`
      tailscaled* *tailscale* wg-quick@* openvpn* openconnect* strongswan* ipsec zerotier-one netbird* nebula*
      cloudflared* warp-svc mullvad-* nordvpnd autossh* ngrok* frpc* teleport* flanneld calico* cilium*
    `),
    processes: names(
      'tailscaled openvpn charon zerotier-one netbird cloudflared flanneld calico-node cilium-agent kube-proxy',
    ),
    alsoContainers: true,
  },
  {
    what: 'display managers, desktops, access aids',
    units: names(`
      display-manager gdm* sddm* lightdm* lxdm xdm wdm slim nodm ly ly@* lemurs emptty* greetd* plasmalogin* cosmic-*
      gnome-* org.gnome.* plasma-* org.kde.* kde-* cinnamon-* mate-* xfce4-* lxqt-* xdg-* wayland-* xorg* x11-* sway*
      hyprland* niri* labwc* weston* nvweston* cage@* seatd at-spi-* brltty* speech-dispatcher* dconf*
    `),
    processes: names(`
      Xorg Xwayland Xvnc gdm3 sddm lightdm greetd gnome-shell mutter kwin_wayland kwin_x11 plasmashell cosmic-comp
      cosmic-greeter cinnamon xfwm4 sway Hyprland niri labwc weston cage
    `),
  },
  {
    what: 'programs started from a desktop',
    units: names('app-*@*'),
    processes: names('gnome-terminal- konsole kgx ptyxis ptyxis-agent kitty alacritty xterm cosmic-term'),
  },
  {
    what: 'daemons of containers, clusters and virtual machines; not the containers',
    units: names(`
      docker dockerd docker-rootless containerd buildkit* podman podman-restart podman-auto-update
      podman-clean-transient snapd* snap.docker.* snap.lxd.* snap.incus.* snap.microk8s.* snap.k8s.* snap.multipass.*
      kubelet* kube-* k3s* rke2* k0s* microk8s* crio cri-o cri-docker* etcd* lxc lxc@* lxc-* lxcfs lxd* incus*
      libvirt* virtlogd virtlockd virtqemud virtnetworkd virtstoraged virtproxyd nomad slurmd slurmctld slurmdbd munge
    `),
    processes: names('dockerd containerd kubelet k3s-server k3s-agent rke2 crio lxd incusd libvirtd snapd slurmd'),
  },
  {
    what: 'disks and file systems of others',
    units: names(`
      multipath* iscsi* open-iscsi nvmf-* nfs* rpcbind rpc-statd* rpc-gssd rpc-svcgssd gssproxy autofs lvm2-* dm-event
      blk-availability zfs* mdmonitor* mdadm* drbd* stratisd* udisks2 cachefilesd ceph* gluster* beegfs* lustre* weka*
      gpfs dphys-swapfile zramswap zram-*
    `),
    processes: names('multipathd iscsid rpcbind rpc.statd udisksd'),
  },
  {
    what: 'clock, logs, watchdogs, cooling, power',
    units: names(`
      chrony* ntp* openntpd ptp4l* phc2sys* timemaster rsyslog syslog* auditd atop* sysstat* kdump* node_exporter
      prometheus-node-exporter* watchdog wd_keepalive earlyoom nohang* oomd thermald fancontrol acpid upower
      power-profiles-daemon nut-* apcupsd irqbalance tuned rasdaemon mcelog smartd smartmontools ipmievd openipmi
    `),
    processes: names('chronyd rsyslogd auditd watchdog earlyoom'),
  },
  {
    what: "NVIDIA's own daemons",
    units: names(
      'nvidia-* dgx-* dcgm* nv-hostengine nv-l4t-* nvsm* nvpmodel nvfancontrol nvphs nvgetty nvargus-daemon jtop',
    ),
    processes: names('nvidia-persiste nv-hostengine nv-fabricmanage nvidia-powerd'),
  },
  { what: 'umaprobe itself', units: names('umaprobe*'), processes: names('umaprobe-guard') },
];
