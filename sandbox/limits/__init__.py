"""Hard limits of one command: what the kernel holds (cgroups, rlimits), what is measured, and how a hit is said.

Three layers, each enough by itself for a part. Rlimits hold for every single process, whoever runs us. A cgroup, where
this user may make one, holds for all processes of a command together. The meter looks a few times a second and stops
what the kernel cannot hold here; a command can go over by what it uses between two looks (at most a quarter of a
second, and the time a look takes).

    limit            with a cgroup               without                             beyond that
    cpu_seconds      cpuacct / cpu.stat, meter   /proc of the tree, meter            RLIMIT_CPU for each process
    memory_bytes     memory controller           RSS, then PSS of the tree, meter    RLIMIT_DATA for each process
    processes        pids controller             RLIMIT_NPROC of the sandbox's own   as root the kernel exempts us from
                                                 user namespace                      that: the meter ends it
    open_files       RLIMIT_NOFILE for each process, always
    file_bytes       RLIMIT_FSIZE for each file, always
    written_bytes,   the meter: what the file system says has grown, then a walk of the workspace, files without a
    files            name included; what is removed again does not count
    scratch_bytes    the size of the tmpfs on /tmp, the home folder and /dev/shm, always; no other place in memory can
                     be written, and their pages count as memory where there is a memory controller
    printed_bytes    counted as it is read, always
    wall_seconds     the clock of the caller, always

What is not held: how often the same bytes are rewritten, and CPU time of children whose parent ignores their end (only
without a cgroup). Without bwrap nothing here is a wall, only a help.
"""
