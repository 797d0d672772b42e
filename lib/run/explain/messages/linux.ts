import { formatBytes } from '../../../base/format.ts';
import { advice, fits, type Message, roomAndCondition, WHO_KILLED_IT, words } from './message.ts';

const WHO = advice('see who holds memory, GPU memory included: the kernel does not count that', 'umaprobe snapshot');

const CGROUP = {
  code: 'oom-killer-cgroup',
  program: 'Linux',
  verdict: 'limit',
  meaning:
    'The limit of a container or service was reached, not the machine’s memory. Page cache and managed memory count towards it; memory from cudaMalloc does not.',
  now: (_, { snapshot: { cgroup } }) =>
    cgroup === null || cgroup.limit === null
      ? null
      : `This process is in ${cgroup.path}, with a limit of ${formatBytes(cgroup.limit)} and ${formatBytes(cgroup.current)} in use.`,
  remedies: [
    advice('raise the limit', 'docker run --memory=<more> …'),
    advice('for a service', 'sudo systemctl set-property <unit> MemoryMax=<more>', true),
  ],
} satisfies Partial<Message>;

const OOM = {
  code: 'oom-killer',
  program: 'Linux',
  verdict: 'shortage',
  meaning(numbers) {
    const killed = numbers.get('killed')?.text;
    const invoker = numbers.get('invoker')?.text;
    const who =
      killed !== undefined
        ? `Linux killed ${killed} for lack of memory. `
        : invoker !== undefined
          ? `${invoker} asked last, when nothing was left; that does not make it guilty. `
          : '';
    return `${who}The kernel chooses by resident memory, in which GPU memory is not: on a machine where the GPU shares the host’s memory it kills bystanders, and not the program that filled it.`;
  },
  now: roomAndCondition,
  remedies: [
    WHO,
    advice('keep a reserve: smaller shares for servers, at least 8 GiB available after loading'),
    advice('protect the way in', 'sudo systemctl set-property ssh.service OOMScoreAdjust=-1000', true),
  ],
} satisfies Partial<Message>;

const OOM_FOLLOW_UPS =
  /(?:oom-kill:constraint=\w{1,30}[^ ]{0,300}|Out of memory: Kill(?:ed)? process \d{1,10} \([^)]{1,40}\)|oom_reaper: reaped process \d{1,10} \([^)]{1,40}\))/i;

const BAD_ALLOC = {
  code: 'bad-alloc',
  verdict: 'shortage',
  meaning: 'A program asked for more host memory than there is, or than a limit or overcommit allows.',
  now: roomAndCondition,
  remedies: [advice('see whether a limit is set', 'ulimit -v; cat /proc/self/cgroup'), WHO],
} satisfies Partial<Message>;

export const LINUX: readonly Message[] = [
  {
    ...CGROUP,
    anchors: ['CONSTRAINT_MEMCG'],
    pattern: words`oom-kill:constraint=(?<constraint>CONSTRAINT_MEMCG)`,
    fields: {
      cgroup: /oom_memcg=([^, ]{1,200})/i,
      killed: /task=([^, ]{1,40}),pid/i,
      anonRss: /anon-rss:(\d{1,15}kB)/i,
    },
    binary: true,
    followUps:
      /Memory cgroup out of memory: Kill(?:ed)? process \d{1,10} \([^)]{1,40}\)|oom_reaper: reaped process \d{1,10}/i,
    absorbs: ['oom-killer'],
  },
  {
    ...CGROUP,
    anchors: ['emory cgroup out of memory'],
    pattern: words`Memory cgroup out of memory: Kill(?:ed)? process (?<pid>{int}) \((?<killed>[^)]{1,40})\)`,
    fields: { anonRss: /anon-rss:(\d{1,15}kB)/i },
    binary: true,
    followUps: /oom_reaper: reaped process \d{1,10}/i,
    absorbs: ['oom-killer'],
  },
  {
    ...OOM,
    anchors: ['invoked oom-killer'],
    pattern: words`(?<invoker>[^\s:][^:]{0,30}?) invoked oom-killer: gfp_mask=[^,]{1,120}, (?:nodemask=[^,]{1,40}, )?order=(?<order>-?{int})`,
    followUps: OOM_FOLLOW_UPS,
    fields: { killed: /Kill(?:ed)? process \d{1,10} \(([^)]{1,40})\)/i },
    absorbs: ['oom-killer'],
    after: 1500,
  },
  {
    ...OOM,
    anchors: ['invoked oom-killer'],
    pattern: words`(?<invoker>[^\s:][^:]{0,30}?) invoked oom-killer`,
    followUps: OOM_FOLLOW_UPS,
    absorbs: ['oom-killer'],
  },
  {
    ...OOM,
    anchors: ['oom-kill:constraint'],
    pattern: words`oom-kill:constraint=(?<constraint>CONSTRAINT_(?:NONE|CPUSET|MEMORY_POLICY))`,
    fields: { killed: /task=([^, ]{1,40}),pid/i, anonRss: /anon-rss:(\d{1,15}kB)/i },
    binary: true,
    followUps: OOM_FOLLOW_UPS,
  },
  {
    ...OOM,
    anchors: ['Out of memory: Kill'],
    pattern: words`(?<!cgroup )Out of memory: Kill(?:ed)? process (?<pid>{int}) \((?<killed>[^)]{1,40})\)`,
    fields: {
      totalVm: /total-vm:(\d{1,15}kB)/i,
      anonRss: /anon-rss:(\d{1,15}kB)/i,
      shmemRss: /shmem-rss:(\d{1,15}kB)/i,
    },
    binary: true,
    followUps: /oom_reaper: reaped process \d{1,10} \([^)]{1,40}\)/i,
  },
  {
    ...OOM,
    anchors: ['oom_reaper: reaped'],
    pattern: words`oom_reaper: reaped process (?<pid>{int}) \((?<killed>[^)]{1,40})\)`,
  },
  {
    code: 'service-oom-killed',
    program: 'systemd',
    anchors: ['killed by the OOM killer', "result 'oom-kill'"],
    pattern: words`(?:(?:A process of this unit has been|process of this unit was) killed by the OOM killer|Failed with result 'oom-kill')`,
    verdict: 'consequence',
    meaning:
      'A process of the service was killed for lack of memory. Whether a limit or the machine was short, the kernel’s own lines say.',
    now: roomAndCondition,
    remedies: [advice('read those lines', 'sudo journalctl -k -g "oom|killed process"', true)],
  },
  {
    code: 'systemd-oomd',
    program: 'systemd',
    anchors: ['due to memory pressure for', 'due to memory used ('],
    pattern: words`Killed (?<killed>\S{1,200}) due to (?:memory pressure for \S{1,200} being (?<pressure>{num}) ?% ?> ?(?<limit>{num}) ?%|memory used \({num}\)[^.]{0,120})`,
    verdict: 'limit',
    meaning:
      'systemd-oomd ended a whole cgroup because tasks waited too long for memory. It sees only what cgroups count, and memory from cudaMalloc is not among that: the program that it ends need not be the one that took the memory.',
    now: roomAndCondition,
    remedies: [
      WHO,
      advice(
        'leave an important service out',
        'sudo systemctl set-property <unit> ManagedOOMMemoryPressure=auto',
        true,
      ),
    ],
  },
  {
    code: 'earlyoom-kill',
    program: 'earlyoom',
    anchors: ['low memory! at or below', 'SIGTERM to process', 'SIGKILL to process'],
    pattern: words`(?:low memory! at or below SIGTERM limits|sending SIG(?:TERM|KILL) to process (?<pid>{int}) (?:uid \d{1,10} )?"(?<killed>[^"]{1,40})")`,
    followUps: /sending SIG(?:TERM|KILL) to process \d{1,10} (?:uid \d{1,10} )?"[^"]{1,40}"/i,
    verdict: 'limit',
    meaning:
      'earlyoom ended a program because less memory was available than its limit. It chooses by resident memory, in which GPU memory is not.',
    now: roomAndCondition,
    remedies: [
      WHO,
      advice('tell it whom to choose', "EARLYOOM_ARGS=\"-m 4 --prefer '(vllm|python)' --avoid '(sshd|systemd)'\""),
    ],
  },
  {
    code: 'page-allocation-failure',
    program: 'Linux',
    anchors: ['page allocation failure'],
    // Kernels before 3.x print a full stop; the kernel's own workers have a colon in their names.
    pattern: words`(?<process>kworker/\S{1,30}|[^\s:][^:]{0,30}?): page allocation failure[:.] order:(?<order>{int}), mode:`,
    verdict: 'unclear',
    meaning(numbers) {
      const order = numbers.get('order')?.value ?? null;
      const block = order === null ? 'a block' : `one block of ${formatBytes(4096 * 2 ** order)}`;
      return `The kernel could not give ${block} at once. ${(order ?? 0) > 3 ? 'Enough may be free, but in smaller blocks; callers of so large blocks usually fall back.' : 'So small blocks are short only when memory is.'}`;
    },
    now: roomAndCondition,
    remedies: [
      advice('check for fragments, and compact', 'umaprobe doctor --only fragmentation; umaprobe cache compact', true),
    ],
  },
  {
    code: 'hung-task',
    program: 'Linux',
    anchors: ['blocked for more than '],
    // The passage is without the level, "INFO:".
    pattern: words`\btask (?<task>[^"]{1,40}?):(?<pid>{int}) blocked for more than (?<seconds>{int}) seconds`,
    followUps: /"echo 0 > \/proc\/sys\/kernel\/hung_task_timeout_secs" disables this message/i,
    verdict: 'unclear',
    meaning(numbers) {
      const [task, seconds] = [numbers.get('task')?.text ?? 'A task', numbers.get('seconds')?.text ?? '120'];
      return `${task} has waited for ${seconds} s in the kernel, where nothing can interrupt it: for a disk, a network file system or a lock, or, where memory is full, for free pages. The line does not say for which; on a GPU that shares the host’s memory such lines follow a memory that was filled by a model.`;
    },
    now: roomAndCondition,
    remedies: (numbers) => [
      advice('see what it waits for', `sudo cat /proc/${numbers.get('pid')?.text ?? '<pid>'}/stack`, true),
      advice('see whether tasks wait for memory', 'umaprobe explain'),
    ],
  },
  {
    code: 'exit-137',
    program: 'bash, zsh',
    anchors: [' Killed   ', 'zsh: killed '],
    // Lines are joined with single spaces.
    pattern: words`(?:: line {int}: (?<pid>{int}) Killed (?<killed>\S{1,80})|zsh: killed (?<program>\S{1,80}))`,
    verdict: 'unclear',
    meaning:
      'The shell saw its program end by SIGKILL: by the kernel for lack of memory, by a guard, or by somebody. The shell does not know the reason.',
    now: roomAndCondition,
    remedies: [WHO_KILLED_IT, WHO],
  },
  {
    code: 'exit-137',
    program: 'PyTorch',
    anchors: ['Signal 9 (SIGKILL)', 'exitcode : -9', 'exitcode: -9 ', '<Signals.SIGKILL: 9>'],
    pattern: words`(?:exitcode ?: (?<exit>-9) \(pid: (?<pid>{int})\)|Signal 9 \(SIGKILL\) received by PID (?<pidKilled>{int})|died with <Signals\.SIGKILL: 9>)`,
    followUps: /Signal 9 \(SIGKILL\) received by PID \d{1,10}/i,
    verdict: 'unclear',
    meaning:
      'A worker was ended by SIGKILL: nearly always by the kernel or a guard, for lack of host memory. torchrun does not know the reason.',
    now: roomAndCondition,
    remedies: [WHO_KILLED_IT, WHO],
  },
  {
    code: 'exit-137',
    program: 'Docker',
    anchors: [
      '(exit 137)',
      'exit code 137',
      'exit code: 137',
      'exit status 137',
      'exited with code 137',
      'exited with 137',
      'exited (137)',
      'Exited (137)',
      'Exit Code: 137',
      'exitCode=137',
      'exitCode: 137',
      'ExitCode: 137',
      'ExitCode":137',
      'ExitCode": 137',
      'OOM-killed (exit',
      ' OOMKilled',
      '"OOMKilled',
      ' Exit Code:',
    ],
    pattern: words`(?:OOM-?killed \((?:exit|exit code|code) (?<exit>137)\)|\bexit(?:ed)?(?: ?with)?(?: ?code| status)?[ :="(]{1,4}(?<exitCode>137)\b|"?(?:Reason|OOMKilled)"?: ?"?(?<reason>OOMKilled|true)\b)`,
    followUps: /\bexit ?code"?: ?137\b/i,
    verdict: 'unclear',
    meaning:
      'The program was ended by SIGKILL (128 + 9): by the kernel for lack of memory, by a guard, or by docker stop. OOMKilled is true only if the container’s own limit was reached; a kill for lack of memory of the whole machine leaves it false.',
    now: roomAndCondition,
    remedies: [WHO_KILLED_IT, WHO],
  },
  {
    code: 'numpy-oom',
    program: 'NumPy',
    anchors: ['for an array with shape'],
    pattern: words`Unable to allocate (?<tried>[\d.]{1,12} [KMGT]iB) for an array with shape`,
    verdict: 'shortage',
    meaning:
      'One array did not fit into host memory, or is more than overcommit allows. On unified memory it is the GPU’s memory, too.',
    now: fits('were asked for', 'tried'),
    remedies: [advice('use a smaller type, or map the file', 'np.load(path, mmap_mode="r")')],
  },
  {
    code: 'compiler-killed',
    program: 'compiler',
    anchors: ['Killed signal terminated', 'died due to signal 9', '(Kill signal)', 'FAILED: [code=137]'],
    // Ninja prints the exit code: flashinfer and vLLM compile with it when they first start.
    pattern: words`(?:Killed signal terminated program (?<program>[\w+-]{1,20})|FAILED: \[code=(?<exit>137)\] (?<target>\S{1,200})|'?(?<compiler>cicc|ptxas|cudafe\+\+|cc1plus|gcc)'? died due to signal 9)`,
    verdict: 'shortage',
    meaning:
      'The kernel ended a compiler for lack of host memory: one of FlashAttention’s or vLLM’s kernels takes several GiB, and a build runs one for each core at once.',
    now: roomAndCondition,
    remedies: [advice('build with fewer at once', 'export MAX_JOBS=4 NVCC_THREADS=1'), WHO],
  },
  {
    code: 'heap-limit',
    program: 'Node.js, Java',
    anchors: ['JavaScript heap out of memory', 'java.lang.OutOfMemoryError'],
    pattern: words`(?:JavaScript heap out of memory|java\.lang\.OutOfMemoryError: (?:Java heap space|GC overhead limit exceeded|Metaspace))`,
    verdict: 'limit',
    meaning:
      'The program reached the limit of its own heap, which is set at its start and far below the machine’s memory. The machine is not short of it.',
    now: roomAndCondition,
    remedies: [
      advice('raise the limit of Node', 'export NODE_OPTIONS=--max-old-space-size=16384'),
      advice('or that of Java', 'java -Xmx16g …'),
    ],
  },
  {
    ...BAD_ALLOC,
    program: 'Rust, Go',
    anchors: ['memory allocation of', 'out of memory: cannot allocate'],
    pattern: words`(?:\bmemory allocation of (?<tried>{int}) bytes failed|runtime: out of memory: cannot allocate (?<asked>{int})-byte block)`,
    units: { tried: 'B', asked: 'B' },
    absorbs: ['cannot-allocate-memory'],
  },
  {
    ...BAD_ALLOC,
    program: 'C++',
    anchors: ['std::bad_alloc'],
    pattern: words`(?:instance of '|what\(\): ?|error: |exception: ?)std::bad_alloc`,
    followUps: /what\(\): ?std::bad_alloc/i,
  },
  {
    code: 'cannot-allocate-memory',
    program: 'Linux',
    anchors: ['ibv_reg_mr', 'Cannot allocate memory'],
    pattern: words`ibv_reg_mr\w{0,20}[^.]{0,120}(?:Cannot allocate memory|ENOMEM)`,
    verdict: 'limit',
    meaning:
      'A buffer could not be registered for RDMA: the limit of locked memory, or free memory that cannot be pinned (CMA that kexec-handover left on kernel 7.0.0).',
    now: (_, { snapshot: { host } }) =>
      host.cmaFree === null
        ? null
        : `CmaFree is ${formatBytes(host.cmaFree)} of CmaTotal ${formatBytes(host.cmaTotal)} here now.`,
    remedies: [
      advice('raise the limit of locked memory', 'ulimit -l unlimited', true),
      advice('in a container', 'docker run --ulimit memlock=-1 …'),
      advice('see the check cma.phantom', 'umaprobe doctor --only cma.phantom'),
    ],
  },
  {
    code: 'cannot-allocate-memory',
    program: 'Linux',
    anchors: ['annot allocate memory'],
    pattern: words`Cannot allocate memory`,
    verdict: 'unclear',
    meaning:
      'A system call answered ENOMEM: memory ran out, or a limit of it was reached (ulimit, overcommit, a container, the number of mappings).',
    now: roomAndCondition,
    remedies: [advice('see the limits', 'ulimit -a; sysctl vm.overcommit_memory vm.max_map_count'), WHO],
  },
];
