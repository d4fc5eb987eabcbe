"""Programs that act on the machine or on other people's processes: high, and never contained."""

from __future__ import annotations

import re
from functools import partial

from sandbox.classify.call import Call, Judge
from sandbox.classify.findings import Finding, high, medium


def always(reason: str, effect: str, call: Call) -> list[Finding]:
    return [high(reason, effect.format(name=call.name), contained=False)]


def kill(call: Call) -> list[Finding]:
    """Signals to a job of this shell are medium; to any other process high; ``-l`` and ``-0`` only look."""
    if call.texts and call.texts[0] in ("-l", "-L"):
        return []
    targets = [word for word in call.operands() if not re.fullmatch(r"[A-Z0-9]+", word.text) or word.text.isdigit()]
    if targets and all(word.text.startswith("%") or word.text == "$!" for word in targets):
        return [medium("ends a job of this line", "ends a background job")]
    return [
        high("ends processes", f"ends {', '.join(word.text for word in targets)[:60] or 'processes'}", contained=False)
    ]


def containers(call: Call) -> list[Finding]:
    """A container engine has the rights of the machine's owner."""
    if call.texts in (["--version"], ["version"]):
        return []
    verb = " ".join(call.texts[:2])[:40]
    return [
        high("uses a container engine, which can reach the whole machine", f"runs {call.name} {verb}", contained=False)
    ]


def service(call: Call) -> list[Finding]:
    """Looking at services is medium; changing them outlives this session."""
    looks = {"status", "show", "list-units", "is-active", "is-enabled", "list-timers", "cat", "list-unit-files"}
    verbs = [text for text in call.texts if not text.startswith("-")][:1]
    if verbs and verbs[0] in looks:
        return [medium("asks about services of this machine", contained=False)]
    return [
        high("changes services that outlive this session", f"{call.name} {' '.join(call.texts)}"[:60], contained=False)
    ]


def crontab(call: Call) -> list[Finding]:
    if call.texts == ["-l"]:
        return [medium("reads the timetable of this user", contained=False)]
    return [high("changes what runs later, outside this session", "changes the timetable", contained=False)]


def _group(names: str, reason: str, effect: str) -> dict[str, Judge]:
    return dict.fromkeys(names.split(), partial(always, reason, effect))


JUDGES: dict[str, Judge] = {
    **_group(
        "sudo su doas pkexec run0 runuser setpriv capsh newgrp sg chroot nsenter unshare machinectl sudoedit visudo "
        "gosu su-exec",
        "asks for other rights or leaves the sandbox",
        "runs with other rights through {name}",
    ),
    **_group(
        "mkfs fdisk sfdisk gdisk parted mkswap swapon swapoff losetup cryptsetup lvcreate lvremove vgremove pvremove "
        "mdadm hdparm blkdiscard badblocks e2fsck fsck resize2fs zpool zfs btrfs flashrom mke2fs tune2fs debugfs "
        "nvme",
        "changes disks or file systems",
        "runs {name} on a disk",
    ),
    **_group("mount umount fusermount", "changes what is mounted", "runs {name}"),
    **_group(
        "shutdown reboot poweroff halt init telinit insmod rmmod modprobe sysctl dmesg kexec ldconfig hostnamectl "
        "timedatectl hwclock ip ifconfig route iptables ip6tables nft ufw firewall-cmd iw nmcli resolvectl bpftool "
        "bpftrace perf tcpdump",
        "changes or watches the machine itself",
        "runs {name}",
    ),
    **_group(
        "useradd userdel usermod groupadd groupdel passwd chpasswd chsh chfn adduser deluser gpasswd vipw",
        "changes accounts",
        "runs {name}",
    ),
    **_group(
        "at batch atd anacron loginctl launchctl schtasks",
        "changes what runs later, outside this session",
        "runs {name}",
    ),
    **_group("pkill killall killall5 skill fuser xkill", "ends processes", "ends processes by name"),
    **_group(
        "ssh-keygen ssh-add ssh-agent ssh-keyscan gpg gpg2 pass secret-tool security keyctl kinit certutil age",
        "uses keys or passwords",
        "runs {name}",
    ),
    **_group(
        "screen tmux dtach abduco byobu zellij", "opens a terminal that outlives this session", "opens a terminal"
    ),
    **_group(
        "xdg-open open xdotool xclip xsel wl-copy pbcopy pbpaste osascript notify-send",
        "reaches the desktop",
        "runs {name}",
    ),
    **_group("claude codex gemini aider opencode goose crush", "starts another agent", "runs {name}"),
    **dict.fromkeys(
        "docker podman nerdctl docker-compose buildah lxc lxd lxc-start crictl ctr vagrant qemu virsh minikube".split(),
        containers,
    ),
    **dict.fromkeys(("systemctl", "service", "rc-service", "journalctl", "supervisorctl"), service),
    "crontab": crontab,
    "kill": kill,
}
