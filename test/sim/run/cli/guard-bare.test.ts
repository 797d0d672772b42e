/**
 * `umaprobe guard` as if it were not there: each script runs bare and under the guard, and prints the same. Where it cannot,
 * the row has the reason, which docs/guard.md gives as well.
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI, cliEnvironment } from '../../../support/cli.ts';
import { ROOT } from '../../../support/root.ts';

/** `"$@"` is what a program is started with: nothing, or the guard. $D is a folder of the run. */
const PRELUDE = `
# Whoever waits does so in a shell of its own: bash leaves every loop when one of its jobs stops.
# Waits until the program has said that it is up, or what the file $1 is to have.
up() ( until grep -q "\${2:-.}" "$D/\${1:-up}" 2>/dev/null; do sleep 0.02; done )
gone() ( while kill -0 "$1" 2> /dev/null; do sleep 0.02; done )
state() { sed -n 's/^State:[[:space:]]*\\(.\\).*/\\1/p' "/proc/$1/status" 2>/dev/null || echo gone; }
# Waits for a state of a process.
is() ( for _ in $(seq 500); do [ "$(state "$1")" = "$2" ] && echo "$2" && exit; sleep 0.02; done; echo "not $2 but $(state "$1")" )
# A program that says which signals it gets, and ends at SIGTERM.
listener='for s in HUP INT QUIT USR1 USR2 ALRM WINCH CONT URG IO PWR VTALRM RTMIN RTMIN+3 RTMAX-2; do trap "echo $s >> $D/log" $s; done
  trap "echo TERM >> $D/log; exit 9" TERM; echo $$ > $D/up; while :; do sleep 0.02; done'
# A program that prints INT at each Ctrl-C, and ends a moment after the first. A bash that the signal meets in a fork runs its
# trap twice, or never goes on.
interrupted='$SIG{INT} = sub { syswrite STDOUT, "INT\\n"; open my $log, ">", "$ENV{D}/log"; syswrite $log, "1" };
  open my $up, ">", "$ENV{D}/up"; syswrite $up, "1"; close $up;
  select undef, undef, undef, 0.02 until -e "$ENV{D}/log"; select undef, undef, undef, 0.02 for 1 .. 20; exit 4'
lives='echo 1 > $D/up; until [ -e $D/go ]; do sleep 0.02; done; echo lived'
# Lives until the folder of this run is removed, after the script.
export daemon='while [ -e $D/up ]; do sleep 0.05; done'
raw() { perl -e 'system { $ARGV[0] } @ARGV; printf "signal %d, code %d\\n", $? & 127, $? >> 8' "$@"; }
`;

interface Row {
  script: string;
  /** Why the guard differs; none: it does not. */
  differs?: string;
}

const SIGNALS =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT XCPU XFSZ VTALRM PROF IO PWR SYS RTMIN RTMIN+7 RTMAX';
const PASSED = 'HUP INT QUIT USR1 USR2 ALRM WINCH CONT URG IO PWR VTALRM RTMIN RTMIN+3 RTMAX-2';
const OWN_GROUP = 'without a terminal it has a process group of its own';
const OTHER_PARENT = 'its parent is umaprobe-guard, which waits for it';
const LIMITS_OF_NODE = 'what was ignored or limited only for umaprobe is lost: Node sets it before umaprobe begins';

/** The same with --ready, which reads the output of the program. */
const READY = '[ $# = 0 ] || set -- "$1" "$2" "$3" --ready nothing --;';

const rows: Record<string, Row> = {
  'exit code 0': { script: '"$@" true; echo $?' },
  'exit codes 1, 6, 126, 127 and 255': {
    script: 'for code in 1 6 126 127 255; do "$@" sh -c "exit $code"; echo $?; done',
  },
  ...Object.fromEntries(
    SIGNALS.split(' ').map((name) => [
      `ended by SIG${name}`,
      { script: `raw "$@" bash -c 'ulimit -c 0; exec sh -c "kill -$(kill -l ${name}) \\$\\$; sleep 5"'` },
    ]),
  ),
  'not found': { script: '"$@" /nonexistent/program 2> /dev/null; echo $?' },
  'not executable': { script: '"$@" /etc/passwd 2> /dev/null; echo $?' },
  ...Object.fromEntries(
    PASSED.split(' ').map((name) => [
      `SIG${name} to its pid`,
      {
        script: `set -m; "$@" bash -c "$listener" & pid=$!; up; kill -${name} $pid; up log; kill -TERM $pid; wait $pid; echo $?; cat $D/log`,
      },
    ]),
  ),
  'SIGTERM to its pid, and to no worker in a session of its own': {
    script: `"$@" bash -c 'trap "echo main; echo 1 > $D/log; wait; exit 3" TERM; setsid bash -c "trap \\"echo worker\\" TERM; echo 1 > $D/up; until [ -e $D/go ]; do sleep 0.02; done" & wait; wait' & pid=$!
      up; kill $pid; up log; sleep 0.2; echo > $D/go; wait $pid; echo $?`,
  },
  'SIGTERM to its group: once to each': {
    script: `set -m; "$@" perl -e '$| = 1; $SIG{USR1} = sub { print "USR1\\n" }; $SIG{TERM} = sub { print "TERM\\n"; sleep 1; exit 9 };
        open(my $up, ">", "$ENV{D}/up"); print $up "1\\n"; close $up; sleep 1 while 1' > $D/log & pid=$!
      up; kill -USR1 -$pid; up log; sleep 0.2; kill -TERM -$pid; wait $pid; echo $?; cat $D/log`,
  },
  'SIGKILL to its group': {
    script: `set -m; "$@" bash -c "$listener" & pid=$!; up; kill -KILL -$pid; wait $pid; echo $?; gone $(cat $D/up); echo gone`,
  },
  // Until it waits, timeout may not know yet whom it has started: then it ends alone.
  // Its SIGCONT, which follows SIGTERM at once, is left out: umaprobe has threads, and two of them may take one each.
  'timeout(1)': {
    script: `timeout 60 "$@" bash -c "$listener" 2> /dev/null & pid=$!; up; is $pid S; kill -ALRM $pid; wait $pid; echo $?; grep -v CONT $D/log`,
  },
  'timeout(1) of a shell and its child': {
    script: `timeout 60 "$@" sh -c 'sleep 77.5 & echo $! > $D/up; wait; echo not reached' & pid=$!; up; is $pid S; kill -ALRM $pid; wait $pid; echo $?; gone $(cat $D/up); echo gone`,
  },
  'SIGTERM to its pid, and a moment later to its group': {
    script: `set -m; "$@" sh -c 'sleep 76.5 & echo $! > $D/up; wait; echo not reached' & pid=$!; up; kill $pid; sleep 0.03; kill -TERM -$pid; wait $pid; echo $?; gone $(cat $D/up); echo gone`,
  },
  'a signal before it has begun': { script: `"$@" sleep 5 & pid=$!; sleep 0.12; kill $pid; wait $pid; echo $?` },
  'SIGSTOP and SIGCONT of the program': {
    script: `set -m; "$@" bash -c "$listener" & pid=$!; up; main=$(cat $D/up); kill -STOP $main; is $pid T; is $main T; kill -CONT $main; is $pid S; kill $main; wait $pid; echo $?`,
  },
  'ten stops in two seconds, as by cpulimit': {
    script: `"$@" bash -c "$listener" & pid=$!; up; main=$(cat $D/up)
      for i in $(seq 20); do kill -STOP $main; sleep 0.05; kill -CONT $main; sleep 0.03; done; is $pid S; kill $main; wait $pid; echo $?`,
  },
  'SIGSTOP and SIGCONT of its pid': {
    script: `"$@" bash -c "$listener" & pid=$!; up; main=$(cat $D/up); kill -STOP $pid; is $main T; kill -CONT $pid; up log CONT; kill $pid; wait $pid; echo $?; sort -u $D/log`,
  },
  'SIGSTOP and SIGCONT of its group': {
    script: `set -m; "$@" bash -c "$listener" & pid=$!; up; main=$(cat $D/up); kill -STOP -$pid; is $main T; is $pid T; kill -CONT -$pid; is $main S; kill $main; wait $pid; echo $?`,
  },
  'stops itself, and goes on with bg': {
    script: `set -m; "$@" sh -c 'kill -TSTP $$; echo after' & pid=$!; is $pid T; sleep 0.2; bg > /dev/null 2>&1; wait $pid; echo $?`,
  },
  'stops itself, and is killed': {
    script: `set -m; "$@" sh -c 'echo $$ > $D/up; kill -STOP $$' & pid=$!; is $pid T; kill -KILL $(cat $D/up); gone $pid; wait $pid; echo $?`,
  },
  'Ctrl-C in a terminal: once': {
    script: `printf %s "$interrupted" > $D/program; (up; printf '\\003'; up log; sleep 0.5; printf '\\004') | PROGRAM="$*" script -qefc '$PROGRAM perl $D/program' /dev/null | tr -d '\\r'; echo \${PIPESTATUS[1]}`,
  },
  'Ctrl-\\ in a terminal': {
    script: `(up; sleep 0.1; printf '\\034'; sleep 0.5) | PROGRAM="$*" script -qefc 'trap : QUIT; ulimit -c 0; $PROGRAM bash -c "echo 1 > $D/up; exec sleep 5"; echo code $?' /dev/null | tr -d '\\r' | grep -o 'code.*'`,
  },
  'Ctrl-C in a terminal while its input is a file': {
    script: `printf %s "$interrupted" > $D/program; (up; printf '\\003'; up log; sleep 1) | PROGRAM="$*" script -qefc 'trap : INT; $PROGRAM perl $D/program < /dev/null; echo code $?' /dev/null | tr -d '\\r'`,
  },
  'the end of its terminal': {
    script: `PROGRAM="$*" script -qefc 'exec $PROGRAM bash -c "trap \\"echo HUP > $D/log; exit\\" HUP; echo 1 > $D/up; while sleep 0.02; do :; done"' /dev/null < <(exec sleep 9 > /dev/null 2>&1) > /dev/null & pid=$!
      up; kill -KILL $pid; up log; cat $D/log`,
  },
  'two programs of a pipeline that read the terminal': {
    script: `(up; printf 'first\\n'; sleep 0.3) | PROGRAM="$*" script -qefc '$PROGRAM sh -c "echo 1 > $D/up; head -1 < /dev/tty; echo done" | cat' /dev/null | tr -d '\\r'`,
  },
  'its window size changes': {
    script: `(up; sleep 1) | PROGRAM="$*" script -qefc '$PROGRAM bash -c "trap \\"stty size < /dev/tty; exit\\" WINCH; echo 1 > $D/up; while sleep 0.02; do :; done" & until grep -q 1 $D/up 2> /dev/null; do sleep 0.02; done; stty rows 33; wait' /dev/null | tr -d '\\r' | grep 33`,
  },
  'yes | head -1 with pipefail': { script: 'set -o pipefail; "$@" yes | head -1; echo $?' },
  'yes | head -1 with pipefail, its output read': {
    script: `${READY} set -o pipefail; "$@" yes | head -1; echo $?`,
  },
  'opens /dev/stdout and /dev/stderr, its output read': {
    script: `${READY} "$@" sh -c 'echo a > /dev/stdout; echo b > /dev/stderr; echo c' 2>&1 | sort`,
  },
  'writes 20 MB, its output read': { script: `${READY} "$@" head -c 20000000 /dev/zero | md5sum` },
  'standard input is a pipe of 20 MB': { script: 'head -c 20000000 /dev/zero | "$@" md5sum' },
  'standard input is /dev/null': { script: '"$@" cat < /dev/null; echo $?' },
  'standard output is a file that is appended to': {
    script: 'echo a > $D/out; "$@" echo b >> $D/out; "$@" echo c >> $D/out; cat $D/out',
  },
  'standard input is at its place in a file': {
    script:
      'seq 5 > $D/in; { read -r first; "$@" sh -c "read -r line; echo \\$line"; read -r next; echo $first $next; } < $D/in',
  },
  'standard output is closed': {
    script: '"$@" sh -c "echo x" >&- 2> /dev/null; echo $?',
    differs: 'Node opens /dev/null where 0, 1 or 2 are closed',
  },
  'a descriptor that a shell opened': { script: '"$@" sh -c "echo three >&3" 3> $D/three; echo $?; cat $D/three' },
  'descriptors of a high number': {
    script: '"$@" sh -c "cat <&8; echo >&9" 8< <(echo eight) 9> $D/nine; wc -l < $D/nine',
  },
  'no descriptor of its own': { script: '"$@" sh -c "ls -l /proc/self/fd | grep -c -e pipe -e anon"' },
  'the job server of make': {
    script: `printf 'all: a b\\na b:\\n\\t+@"$$W" $(MAKE) -s -f $D/sub\\n' > $D/mk; printf 'all:\\n\\t@echo made\\n' > $D/sub; printf '#!/bin/sh\\nexec %s "$@"\\n' "$*" > $D/w; chmod +x $D/w; W=$D/w make -s -j2 -f $D/mk 2>&1`,
  },
  'nohup: SIGHUP is ignored': {
    script: `nohup "$@" bash -c "$lives" 2> /dev/null & pid=$!; up; kill -HUP $pid; sleep 0.2; echo > $D/go; wait $pid; echo $?`,
  },
  'a script that ignores SIGHUP': {
    script: `trap '' HUP; "$@" bash -c "$lives" & pid=$!; up; kill -HUP $pid; sleep 0.2; echo > $D/go; wait $pid; echo $?`,
  },
  'signals that a shell ignores for a command in the background': {
    script: `sh -c '"$@" grep SigIgn /proc/self/status & wait' sh "$@"`,
    differs: LIMITS_OF_NODE,
  },
  'signal mask and handlers': { script: '"$@" grep -E "Sig(Blk|Cgt|Ign)|ShdPnd" /proc/self/status' },
  'soft limit of open files': { script: 'ulimit -Sn 200; "$@" sh -c "ulimit -Sn; ulimit -Hn"; echo $?' },
  'soft limit of open files that its shell does not have': {
    script: '(ulimit -Sn 200; exec "$@" sh -c "ulimit -Sn")',
    differs: LIMITS_OF_NODE,
  },
  'all other limits': {
    script: 'ulimit -Ss 4096; ulimit -Sc 0; ulimit -Sv 99999999; "$@" cat /proc/self/limits | grep -v "open files"',
  },
  'umask, folder, niceness and OOM score': {
    script:
      'umask 027; cd /usr/lib; echo 321 > /proc/self/oom_score_adj; nice -n 3 "$@" sh -c "umask; pwd; nice; cat /proc/self/oom_score_adj"',
  },
  'scheduling policy, processors and timer slack': {
    script: '"$@" sh -c "chrt -p \\$\\$ | cut -d: -f2; taskset -p \\$\\$ | cut -d: -f2; cat /proc/self/timerslack_ns"',
  },
  'session and process group': {
    script: `"$@" sh -c 'ps -o pgid=,sid=,tpgid= -p $$' | tr -d ' ' | sed "s/$$/shell/g"`,
    differs: OWN_GROUP,
  },
  'its parent': { script: `"$@" sh -c 'cat /proc/$PPID/comm'`, differs: OTHER_PARENT },
  'its environment': {
    script: `export 'ODD=a
b' LATIN=$'\\xe9'; env 'a.b=c' 'BASH_FUNC_f%%=() { :; }' "$@" env | grep -av -e '^_=' -e '^D=' | sort`,
  },
  'a large environment': {
    script: `x=$(printf %0100d 0); for i in $(seq 3000); do export "V$i=$x"; done; "$@" sh -c 'env | grep -c ^V'`,
  },
  '150,000 arguments': { script: `"$@" sh -c 'echo $#' sh $(seq 150000 | sed 's/.*/x/')` },
  'arguments with any byte': {
    script: `"$@" printf '%s|' '' ' ' -- --json -q $'\\xff\\xfe' $'a\\nb' '*' '"' "'" | od -c | md5sum`,
  },
  'its name': { script: `"$@" sh -c 'tr "\\0" " " < /proc/$$/cmdline'` },
  'a daemon: the prompt comes at once': {
    script: `echo 1 > $D/up; "$@" sh -c 'setsid sh -c "$daemon" > /dev/null 2>&1 < /dev/null &' 2> /dev/null; echo $?`,
  },
  'a daemon in a pipeline': {
    script: `echo 1 > $D/up; "$@" sh -c 'setsid sh -c "$daemon" > /dev/null 2>&1 < /dev/null & echo up' 2> /dev/null | cat; echo $?`,
  },
  'a child that outlives it by a moment': {
    script: `"$@" sh -c 'while kill -0 $$ 2> /dev/null; do :; done & exit 3' 2>&1; echo $?`,
  },
  'time(1) counts it': {
    script: `bash -c 'time "$@" sh -c "i=0; while [ \\$i -lt 300000 ]; do i=\\$((i+1)); done"' bash "$@" 2>&1 | awk '/user/ { split($2, t, /[ms]/); print (t[2] > 0.02) ? "counted" : "not counted" }'`,
  },
};

const GUARD = [process.execPath, CLI, 'guard', '--'];

async function printed(script: string, prefix: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bare-'));
  const child = spawn('bash', ['-c', PRELUDE + script, 'bash', ...prefix], {
    env: { ...cliEnvironment(), D: folder, SHELL: '/bin/bash' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A job of its own: signals to groups stay there.
    detached: true,
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {} // only what runs in a group of its own holds the pipes
    child.stdout.destroy();
    child.stderr.destroy();
  }, 20_000);
  const text = { out: '', err: '' };
  child.stdout.setEncoding('latin1').on('data', (more: string) => (text.out += more));
  child.stderr.setEncoding('latin1').on('data', (more: string) => (text.err += more));
  const code = await new Promise((resolve) => child.once('close', (status, signal) => resolve(signal ?? status)));
  clearTimeout(timer);
  rmSync(folder, { recursive: true, force: true });
  if (isLate) throw new Error(`${prefix.length === 0 ? 'bare' : 'guarded'}, it has not ended: ${text.out}${text.err}`);
  // Whether a shell has seen that its job stopped when it goes on is chance.
  const said = text.err.replaceAll(/^\n?\[1\]\+ +Stopped .*\n/gm, '');
  return `${text.out}--- ${code}\n${said.replaceAll(/^(bash|environment): line \d+: +\d+ |\S*bare-\w+/gm, '')}`;
}

describe('bare and guarded are the same:', () => {
  it.concurrent.for(Object.entries(rows).filter(([, row]) => row.differs === undefined))(
    '%s',
    async ([, { script }], { expect }) => {
      const [bare, guarded] = await Promise.all([printed(script, []), printed(script, GUARD)]);
      // A row that prints nothing compares nothing.
      expect(bare).not.toMatch(/^---/);
      expect(bare).not.toMatch(/^not \w+ but/m);
      expect(guarded).toBe(bare);
    },
  );
});

describe('bare and guarded differ, with a reason:', () => {
  const page = readFileSync(join(ROOT, 'docs/guard.md'), 'utf8').replaceAll(/\s+/g, ' ');

  it.concurrent.for(Object.entries(rows).filter(([, row]) => row.differs !== undefined))(
    '%s',
    async ([, { differs = '', script }], { expect }) => {
      const [bare, guarded] = await Promise.all([printed(script, []), printed(script, GUARD)]);
      expect(guarded).not.toBe(bare);
      expect(page).toContain(differs);
    },
  );
});

it('has sixty comparisons', () => expect(Object.keys(rows).length).toBeGreaterThanOrEqual(60));
