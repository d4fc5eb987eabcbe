"""Hard limits of one command: what the kernel holds (cgroups, rlimits), what is measured, and how a hit is said.

Three layers, each enough by itself for a part: rlimits hold for every process; a cgroup, where this user may make one,
holds for all processes of a command together; the meter looks several times a second and stops what the kernel cannot
hold here.
"""
