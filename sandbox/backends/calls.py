"""The system calls programs need, by theme. What is on no list here is unknown to the filter and fails with ENOSYS, so
that a program written for a newer kernel falls back to an older way.

Calls whose arguments decide are not here: see `sandbox.backends.filter`.
"""

from __future__ import annotations

# Names one architecture lacks are skipped there: arm64 has only the newer forms of many.
_FILES = """
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 open openat openat2 creat close close_range
dup dup2 dup3 stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 lseek truncate ftruncate
fallocate fadvise64 readahead sync fsync fdatasync syncfs sync_file_range copy_file_range sendfile splice tee getdents
getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink
symlinkat readlink readlinkat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat
utimensat umask flock fcntl getxattr lgetxattr fgetxattr getxattrat setxattr lsetxattr fsetxattr setxattrat listxattr
llistxattr flistxattr listxattrat removexattr lremovexattr fremovexattr removexattrat inotify_init inotify_init1
inotify_add_watch inotify_rm_watch cachestat io_setup io_submit io_getevents io_pgetevents io_cancel io_destroy
"""
_MEMORY = """
munmap mremap brk madvise mincore msync mlock mlock2 munlock mlockall munlockall membarrier mseal get_mempolicy
pkey_alloc pkey_free map_shadow_stack
"""
_PROCESSES = """
fork vfork execve exit exit_group wait4 waitid kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open
pidfd_send_signal getpid gettid getppid getpgid setpgid getpgrp getsid setsid getuid geteuid getgid getegid getresuid
getresgid getgroups setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capget capset prctl
arch_prctl set_tid_address set_robust_list get_robust_list rseq restart_syscall futex futex_waitv futex_wake futex_wait
futex_requeue sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler
sched_setscheduler sched_getattr sched_setattr sched_get_priority_max sched_get_priority_min sched_rr_get_interval
getpriority setpriority ioprio_get ioprio_set getrlimit setrlimit prlimit64 getrusage times sysinfo uname getcpu
landlock_create_ruleset landlock_add_rule landlock_restrict_self
"""
_SIGNALS_AND_TIME = """
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack signalfd signalfd4
pause alarm setitimer getitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete timerfd_create
timerfd_settime timerfd_gettime nanosleep clock_nanosleep clock_gettime clock_getres time gettimeofday getrandom
"""
_TALK = """
pipe pipe2 eventfd eventfd2 poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait
epoll_pwait2 bind connect listen accept accept4 getsockname getpeername setsockopt getsockopt shutdown sendto recvfrom
sendmsg recvmsg sendmmsg recvmmsg shmget shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl mq_open
mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
"""

ALLOWED = tuple(f"{_FILES} {_MEMORY} {_PROCESSES} {_SIGNALS_AND_TIME} {_TALK}".split())

# What every escape would like to have. EPERM says "you may not", where ENOSYS would say "not known here".
REFUSED = tuple(
    """
    acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init fanotify_mark finit_module
    fsconfig fsmount fsopen fspick init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp
    kexec_file_load kexec_load keyctl lookup_dcookie mbind memfd_secret migrate_pages modify_ldt mount mount_setattr
    move_mount move_pages name_to_handle_at open_by_handle_at open_tree open_tree_attr perf_event_open pidfd_getfd
    pivot_root process_madvise process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot
    remap_file_pages request_key set_mempolicy setdomainname sethostname setns settimeofday swapoff swapon syslog
    umount2 userfaultfd vhangup vmsplice
    """.split()
)
