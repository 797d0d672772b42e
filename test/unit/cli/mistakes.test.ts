/** What a mistake on the command line answers: one line with the value, what was expected and where to read on. */

import { expect, it } from 'vitest';
import { EXIT } from '../../../lib/cli/core/exit.ts';
import { ALLOCATOR_KINDS } from '../../../lib/types/kinds.ts';
import { mainInProcess } from '../../support/in-process.ts';

const KINDS = Object.keys(ALLOCATOR_KINDS).join(', ');

/** What was typed, and the line that answers, without "umaprobe: ". Read it for sense: nothing may suggest nonsense. */
const MISTAKES: readonly (readonly [typed: string, answer: string])[] = [
  ['snapsot', '"snapsot" is not a command. Did you mean umaprobe snapshot? See umaprobe --help.'],
  ['snap', '"snap" is not a command. Did you mean umaprobe snapshot? See umaprobe --help.'],
  ['evict', '"evict" is not a command. Did you mean umaprobe cache evict? See umaprobe --help.'],
  ['drop', '"drop" is not a command. Did you mean umaprobe cache drop? See umaprobe --help.'],
  ['run', '"run" is not a command. Did you mean umaprobe sim run? See umaprobe --help.'],
  ['status', '"status" is not a command. Did you mean umaprobe cache status? See umaprobe --help.'],
  ['list', '"list" is not a command. Did you mean umaprobe sim list? See umaprobe --help.'],
  ['xyzzy', '"xyzzy" is not a command. See umaprobe --help.'],
  ['free', '"free" is not a command. Did you mean umaprobe snapshot? See umaprobe --help.'],
  ['stats', '"stats" is not a command. Did you mean umaprobe cache status? See umaprobe --help.'],
  ['doctr', '"doctr" is not a command. Did you mean umaprobe doctor? See umaprobe --help.'],
  ['sweeep', '"sweeep" is not a command. Did you mean umaprobe sweep? See umaprobe --help.'],
  ['strees', '"strees" is not a command. Did you mean umaprobe stress? See umaprobe --help.'],
  ['memory', '"memory" is not a command. Did you mean umaprobe snapshot? See umaprobe --help.'],
  ['memtest', '"memtest" is not a command. Did you mean umaprobe stress --verify? See umaprobe --help.'],
  [
    'kill 123',
    '"kill" is not a command. umaprobe ends no program that it did not start: umaprobe processes shows who holds the memory. See umaprobe --help.',
  ],
  ['-v', 'There is no option -v. Did you mean -V? See umaprobe snapshot --help.'],
  ['--verbose', 'There is no option --verbose. See umaprobe snapshot --help.'],
  ['help xyzzy', '"xyzzy" is not a command. See umaprobe --help.'],
  ['help evict', '"evict" is not a command. Did you mean umaprobe cache evict? See umaprobe --help.'],
  ['SNAPSHOT', '"SNAPSHOT" is not a command. Did you mean umaprobe snapshot? See umaprobe --help.'],
  ['cache', 'cache needs one of: status, evict, drop, compact, reclaim, rule. See umaprobe cache --help.'],
  ['sim', 'sim needs one of: list, show, run, grow. See umaprobe sim --help.'],
  [
    'cache evct',
    'cache has no "evct"; it has status, evict, drop, compact, reclaim, rule. Did you mean umaprobe cache evict? See umaprobe cache --help.',
  ],
  [
    'cache clear',
    'cache has no "clear"; it has status, evict, drop, compact, reclaim, rule. See umaprobe cache --help.',
  ],
  [
    'cache drop-caches',
    'cache has no "drop-caches"; it has status, evict, drop, compact, reclaim, rule. Did you mean umaprobe cache drop? See umaprobe cache --help.',
  ],
  [
    'sim lst',
    'sim has no "lst"; it has list, show, run, grow. Did you mean umaprobe sim list? See umaprobe sim --help.',
  ],
  ['sim gb10', 'sim has no "gb10"; it has list, show, run, grow. See umaprobe sim --help.'],
  ['cache-evict', '"cache-evict" is not a command. Did you mean umaprobe cache evict? See umaprobe --help.'],
  ['--json watchh', '"watchh" is not a command. Did you mean umaprobe watch? See umaprobe --help.'],
  [
    '--exact watch',
    'snapshot takes no argument, and is given "watch". Put the command first: umaprobe watch … See umaprobe snapshot --help.',
  ],
  [
    'snapshot watch',
    'snapshot takes no argument, and is given "watch". Put the command first: umaprobe watch … See umaprobe snapshot --help.',
  ],
  ['snapshot extra', 'snapshot takes no argument, and is given "extra". See umaprobe snapshot --help.'],
  ['sweep 8GB', 'sweep takes no argument, and is given "8GB". Did you mean --sizes 8GB? See umaprobe sweep --help.'],
  [
    'stress 60GB',
    'stress takes no argument, and is given "60GB". Did you mean --max 60GB? See umaprobe stress --help.',
  ],
  [
    'launch',
    'A program is missing after "--", such as umaprobe launch -- vllm serve model. See umaprobe launch --help.',
  ],
  [
    'launch --bytes 1GiB --model m -- true',
    '--bytes and --model both say what is loaded: give one of them. See umaprobe launch --help.',
  ],
  [
    'launch --utilization 90 -- true',
    '--utilization "90" is not a number above 0 and up to 1. See umaprobe launch --help.',
  ],
  [
    'launch --bytes 1GiB --context 4096 -- true',
    '--bytes is a size without a model, so it does not go with --context. See umaprobe launch --help.',
  ],
  ['fit 100GiB', 'There is no model "100GiB". Did you mean --bytes 100GiB? See umaprobe fit --help.'],
  [
    'fit --bytes 1GiB --tensor-parallel 2',
    '--bytes is a size without a model, so it does not go with --tensor-parallel. See umaprobe fit --help.',
  ],
  [
    'launch --bytes 80 -- true',
    '--bytes "80" has no unit: write 80GB (powers of 1000), 80GiB (powers of 1024) or 80B (bytes). See umaprobe launch --help.',
  ],
  ['watch 5s', 'watch takes no argument, and is given "5s". Did you mean --interval 5s? See umaprobe watch --help.'],
  [
    'doctor pressure',
    'doctor takes no argument, and is given "pressure". Did you mean --only pressure? See umaprobe doctor --help.',
  ],
  ['snapshot --jsn', 'snapshot has no option --jsn. Did you mean --json? See umaprobe snapshot --help.'],
  ['snapshot -json', 'snapshot has no option -j. Did you mean --json? See umaprobe snapshot --help.'],
  ['snapshot --exac', 'snapshot has no option --exac. Did you mean --exact? See umaprobe snapshot --help.'],
  ['snapshot --kind device', 'snapshot has no option --kind. See umaprobe snapshot --help.'],
  ['stress --maxbytes 2GB', 'stress has no option --maxbytes. Did you mean --max? See umaprobe stress --help.'],
  ['stress --limit 2GB', 'stress has no option --limit. Did you mean --max? See umaprobe stress --help.'],
  ['sweep --size 1GB', 'sweep has no option --size. Did you mean --sizes? See umaprobe sweep --help.'],
  ['sweep --kinds device', 'sweep has no option --kinds. Did you mean --kind? See umaprobe sweep --help.'],
  ['sweep --steps 1GB', 'sweep has no option --steps. Did you mean --step? See umaprobe sweep --help.'],
  ['watch --intervall 5s', 'watch has no option --intervall. Did you mean --interval? See umaprobe watch --help.'],
  ['watch -n 5', 'watch has no option -n. Did you mean --interval? See umaprobe watch --help.'],
  [
    'cluster a b',
    'cluster takes one argument, and is given "b", too. Did you mean --hosts a,b? See umaprobe cluster --help.',
  ],
  ['cluster a', '"a" is no option. Did you mean --hosts a? See umaprobe cluster --help.'],
  ['fit --size 60GiB', 'fit has no option --size. Did you mean --bytes? See umaprobe fit --help.'],
  ['fit 60 GiB', 'A size is one word. Did you mean --bytes 60GiB? See umaprobe fit --help.'],
  [
    'doctor --full',
    'doctor has no option --full. umaprobe doctor | less shows every check. See umaprobe doctor --help.',
  ],
  ['serve --listen 8080', '--listen is "8080"; expected an address and a port, such as 127.0.0.1:8080'],
  ['snapshot -v', 'snapshot has no option -v. Did you mean -V? See umaprobe snapshot --help.'],
  ['snapshot -x', 'snapshot has no option -x. See umaprobe snapshot --help.'],
  ['snapshot --json=yes', '--json takes no value, got "yes". See umaprobe snapshot --help.'],
  ['snapshot --sim', '--sim needs a value: --sim <name|file.json>. See umaprobe snapshot --help.'],
  ['snapshot --sim=', '--sim needs a value: --sim <name|file.json>. See umaprobe snapshot --help.'],
  ['stress --max --verify', '--max needs a value: --max <size>. See umaprobe stress --help.'],
  ['stress --max', '--max needs a value: --max <size>. See umaprobe stress --help.'],
  [
    'stress --max 60',
    '--max "60" has no unit: write 60GB (powers of 1000), 60GiB (powers of 1024) or 60B (bytes). See umaprobe stress --help.',
  ],
  [
    'stress --max 60G',
    '--max "60G" could mean two sizes: write 60GB (powers of 1000) or 60GiB (powers of 1024). See umaprobe stress --help.',
  ],
  ['stress --max 60gb --max 2GB', '--max takes one value, and is given "60gb" and "2GB". See umaprobe stress --help.'],
  [
    'stress --max 1.5',
    '--max "1.5" has no unit: write 1.5GB (powers of 1000) or 1.5GiB (powers of 1024). See umaprobe stress --help.',
  ],
  [
    'stress --max 1e9',
    '--max "1e9" is not a size with its unit, such as 8GB (8·10^9 bytes), 8GiB (8·2^30 bytes) or 4096B. See umaprobe stress --help.',
  ],
  [
    'stress --max -5GB',
    '--max "-5GB" is not a size with its unit, such as 8GB (8·10^9 bytes), 8GiB (8·2^30 bytes) or 4096B. See umaprobe stress --help.',
  ],
  ['stress --max 0GB', '--max "0GB" is less than 1B. See umaprobe stress --help.'],
  [
    'stress --max 60Gbit',
    '--max "60Gbit" is not a size with its unit, such as 8GB (8·10^9 bytes), 8GiB (8·2^30 bytes) or 4096B. See umaprobe stress --help.',
  ],
  [
    'stress --max GB',
    '--max "GB" is not a size with its unit, such as 8GB (8·10^9 bytes), 8GiB (8·2^30 bytes) or 4096B. See umaprobe stress --help.',
  ],
  ['stress --chunk 1MiB', '--chunk "1MiB" is less than 2MiB. See umaprobe stress --help.'],
  ['stress --chunk 65GiB', '--chunk "65GiB" is more than 64GiB. See umaprobe stress --help.'],
  [
    'stress --floor 1GiB',
    '--floor "1GiB" is below 2GiB: a host that runs out of memory freezes instead of failing. Give a larger floor, or add --i-accept-a-frozen-machine. See umaprobe stress --help.',
  ],
  [
    'guard --floor 1GiB -- true',
    '--floor "1GiB" is below 2GiB: a host that runs out of memory freezes instead of failing. Give a larger floor, or add --i-accept-a-frozen-machine. See umaprobe guard --help.',
  ],
  [
    'launch --floor 1GiB -- true',
    '--floor "1GiB" is below 2GiB: a host that runs out of memory freezes instead of failing. Give a larger floor, or add --i-accept-a-frozen-machine. See umaprobe launch --help.',
  ],
  [
    'profile --vary a=1 --floor 1GiB -- true',
    '--floor "1GiB" is below 2GiB: a host that runs out of memory freezes instead of failing. Give a larger floor, or add --i-accept-a-frozen-machine. See umaprobe profile --help.',
  ],
  [
    'stress --floor 1',
    '--floor "1" has no unit: write 1GB (powers of 1000), 1GiB (powers of 1024) or 1B (bytes). See umaprobe stress --help.',
  ],
  [
    'stress --share 1MB',
    '--share "1MB" is below 256MiB: the GPU\'s other users fail without memory. Give a larger share, or add --i-accept-that-others-run-out. See umaprobe stress --help.',
  ],
  ['stress --kind gpu', `--kind "gpu" is not one of ${KINDS}. See umaprobe stress --help.`],
  ['stress --kind managd', `--kind "managd" is not one of ${KINDS}. Did you mean managed? See umaprobe stress --help.`],
  [
    'stress --kind device,managed',
    '--kind "device,managed": stress takes one kind; umaprobe sweep takes several. See umaprobe stress --help.',
  ],
  [
    'stress --kind all',
    '--kind "all": stress takes one kind; umaprobe sweep takes several. See umaprobe stress --help.',
  ],
  ['stress --device gb10', '--device "gb10" is not a whole number from 0 to 255. See umaprobe stress --help.'],
  ['stress --device 300', '--device "300" is not a whole number from 0 to 255. See umaprobe stress --help.'],
  ['stress --timeout 5', '--timeout "5" has no unit: write 5ms, 5s, 5m or 5h. See umaprobe stress --help.'],
  ['stress --timeout 25h', '--timeout "25h" is outside 100ms to 24h. See umaprobe stress --help.'],
  ['stress --step-timeout 1ms', '--step-timeout "1ms" is outside 100ms to 1h. See umaprobe stress --help.'],
  ['stress --hold 5', '--hold "5" has no unit: write 5ms, 5s, 5m or 5h. See umaprobe stress --help.'],
  [
    'stress --hold 2d',
    '--hold "2d" is not a time with its unit, such as 500ms, 1s, 2m or 1h. See umaprobe stress --help.',
  ],
  [
    'stress --journal none --journal x',
    '--journal takes one value, and is given "none" and "x". See umaprobe stress --help.',
  ],
  [
    'sweep --sizes 1,2,4GB',
    '--sizes "1" has no unit: write 1GB (powers of 1000), 1GiB (powers of 1024) or 1B (bytes). See umaprobe sweep --help.',
  ],
  ['sweep --sizes 1GB,,2GB', '--sizes "1GB,,2GB" has an empty entry between its commas. See umaprobe sweep --help.'],
  [
    'sweep --sizes 1GB --from 2GB',
    '--sizes and --from both set the sizes: give one of them. See umaprobe sweep --help.',
  ],
  ['sweep --from 1GB', 'A range needs both --from and --to; --to is missing. See umaprobe sweep --help.'],
  ['sweep --from 4GB --to 1GB', '--to "1GB" is less than --from "4GB". See umaprobe sweep --help.'],
  ['sweep --kind all --kind device', '--kind "all" cannot be combined with other kinds. See umaprobe sweep --help.'],
  ['sweep --preset labs', '--preset "labs" is not one of lab, quick. Did you mean lab? See umaprobe sweep --help.'],
  [
    'sweep --preset lab --sizes 1GB',
    '--sizes and --preset both set the sizes: give one of them. See umaprobe sweep --help.',
  ],
  [
    'sweep --dtype flaot32 --elements 1e9',
    '--dtype "flaot32" is not an element type. Did you mean float32? See umaprobe sweep --help.',
  ],
  ['sweep --dtype float32', 'Tensors need --shape 8192x8192 or --elements 1e9. See umaprobe sweep --help.'],
  ['sweep --shape 8192x8192', 'Tensors need element types: --dtype float32,bf16. See umaprobe sweep --help.'],
  [
    'sweep --dtype float32 --shape 8192,x',
    '--shape "x" is not a shape, such as 8192x8192 or 4096. See umaprobe sweep --help.',
  ],
  [
    'sweep --dtype float32 --elements 1.5',
    '--elements "1.5" is not a whole number of elements, such as 1e9, from 1 to 2^53 − 1. See umaprobe sweep --help.',
  ],
  [
    'sweep --dtype int4 --shape 4x0',
    '--shape "4x0" has a dimension of 0, so it holds nothing. See umaprobe sweep --help.',
  ],
  ['sweep --repeat 0', '--repeat "0" is not a whole number from 1 to 1000. See umaprobe sweep --help.'],
  ['sweep --repeat 1e3', '--repeat "1e3" is not a whole number from 1 to 1000. See umaprobe sweep --help.'],
  ['sweep --csv - --json', '--csv - and --json both write to stdout: give --csv a file. See umaprobe sweep --help.'],
  [
    'fit --bytes 1GiB --html -',
    '--html "-" is not a file, and the page is too large for a terminal. See umaprobe fit --help.',
  ],
  [
    'fit m.gguf --html m.gguf',
    'the model and --html both name "m.gguf": one would overwrite the other. See umaprobe fit --help.',
  ],
  ['sweep --html -', '--html "-" is not a file, and the page is too large for a terminal. See umaprobe sweep --help.'],
  [
    'sweep --csv /nonexistent/x.csv',
    '--csv "/nonexistent/x.csv" cannot be written: there is no directory /nonexistent. See umaprobe sweep --help.',
  ],
  [
    'sweep --csv a.csv --html a.csv',
    '--csv and --html both name "a.csv": one would overwrite the other. See umaprobe sweep --help.',
  ],
  [
    'profile --vary bs=1,2',
    'A program is missing after "--", such as -- python train.py --bs {bs}. See umaprobe profile --help.',
  ],
  [
    'profile -- true',
    'Say what varies: --vary batch_size=1,2,4,8, or --bisect context=1024..131072. See umaprobe profile --help.',
  ],
  ['profile --vary bs= -- true', '--vary "bs=" has no values; write bs=1,2,4,8. See umaprobe profile --help.'],
  [
    'profile --vary bs -- true',
    '--vary "bs" is not a name and its values, such as batch_size=1,2,4,8. See umaprobe profile --help.',
  ],
  [
    'profile --vary bs=1,,2 -- true',
    '--vary "bs=1,,2": "" is not a number; write --vary bs=1,2,4,8, or for a range --bisect bs=1..8. See umaprobe profile --help.',
  ],
  [
    'profile --vary bs=1..8 -- true',
    '--vary "bs=1..8": "1..8" is not a number; write --vary bs=1,2,4,8, or for a range --bisect bs=1..8. See umaprobe profile --help.',
  ],
  ['fit --params 7e9 --tp 2', 'fit has no option --tp. Did you mean --tensor-parallel? See umaprobe fit --help.'],
  [
    'fit --params 7e9 --max-model-len 4096',
    'fit has no option --max-model-len. Did you mean --context? See umaprobe fit --help.',
  ],
  ['serve --port 8080', 'serve has no option --port. Did you mean --listen? See umaprobe serve --help.'],
  [
    'prepare 60 GiB',
    'prepare takes one argument, and is given "GiB", too. A size is one word, such as 60GiB. See umaprobe prepare --help.',
  ],
  ['—sim gb10', '"—sim" is not a command. An option begins with two hyphens: --. See umaprobe --help.'],
  ['fit 70B', 'There is no model "70B". Did you mean --params 70B? See umaprobe fit --help.'],
  ['estimate 1.5b', 'There is no model "1.5b". Did you mean --params 1.5b? See umaprobe estimate --help.'],
  [
    'estimate --params 7e9 --context 32k',
    '--context "32k" is not a whole number from 1 to 100000000. Write 32768 or 32000. See umaprobe estimate --help.',
  ],
  [
    'sweep --sizes 1GB..4GB',
    '--sizes "1GB..4GB" is no list, such as 1GB,4GB; a range is --from 1GB --to 4GB. See umaprobe sweep --help.',
  ],
  [
    'serve 8080',
    'serve takes no argument, and is given "8080". Did you mean --listen 127.0.0.1:8080? See umaprobe serve --help.',
  ],
  [
    'record shwo',
    'record takes no argument, and is given "shwo". Did you mean umaprobe record show? See umaprobe record --help.',
  ],
  [
    'profile bs=1,2 -- x {bs}',
    'profile takes no argument, and is given "bs=1,2". Did you mean --vary bs=1,2? See umaprobe profile --help.',
  ],
  [
    'profile bs=1,2 x {bs}',
    'profile takes no argument, and is given "bs=1,2". Did you mean --vary bs=1,2? See umaprobe profile --help.',
  ],
  [
    'profile --bisect n=8..1 -- x {n}',
    '--bisect "n=8..1" is not a name and a range of whole numbers from small to large, such as n=1024..131072. See umaprobe profile --help.',
  ],
  [
    'profile --bisect n=1,8 -- x {n}',
    '--bisect "n=1,8" is not a name and a range of whole numbers from small to large, such as n=1024..131072. See umaprobe profile --help.',
  ],
  [
    'profile --vary n=1 --bisect n=1..2 -- x {n}',
    '--vary and --bisect exclude each other: give one of them. See umaprobe profile --help.',
  ],
  [
    'profile --bisect n=5 -- x {n}',
    '--bisect "n=5" is not a name and a range of whole numbers from small to large, such as n=1024..131072. See umaprobe profile --help.',
  ],
  [
    'profile --vary n=1 --env x -- x {n}',
    '--env "x" is not a variable and its text, such as BATCH={bs}. See umaprobe profile --help.',
  ],
  [
    'profile --vary n=1 --csv - --markdown - -- x {n}',
    '--csv - and --markdown - both write to stdout: give --csv a file. See umaprobe profile --help.',
  ],
  [
    'profile --vary bs=1 -- x {bz}',
    'argument 1 has the placeholder {bz}, and no parameter is named so (there is bs). For the text itself write {{bz}}',
  ],
  [
    'profile --vary bs=2,1 -- x {bs}',
    'values of bs is "2, 1"; expected rising numbers, since each is predicted from those below',
  ],
  ['profile --vary n=1 --ready ( -- x {n}', 'ready "(" is no regular expression of RE2: missing closing ): `(`'],
  [
    'profile --vary n=1 --metric x -- x {n}',
    'metric "x" has no group, such as "([0-9.]+) tokens/s": which part is the number?',
  ],
  [
    'profile --vary n=1 -- x {n} {file:a}',
    '{file:a} names a template, and there is no folder of templates (templates)',
  ],
  ['profile --vary n=1 --journal none --resume -- x {n}', 'resume needs the journal, and journal is false'],
  ['prepare', 'A size is missing, such as 100GiB. See umaprobe prepare --help.'],
  [
    'prepare 60',
    'The size "60" has no unit: write 60GB (powers of 1000), 60GiB (powers of 1024) or 60B (bytes). See umaprobe prepare --help.',
  ],
  [
    'prepare 60G',
    'The size "60G" could mean two sizes: write 60GB (powers of 1000) or 60GiB (powers of 1024). See umaprobe prepare --help.',
  ],
  ['prepare 60GB --bytes 2GB', 'The size is given twice: "60GB" and --bytes "2GB". See umaprobe prepare --help.'],
  ['prepare 60GB 70GB', 'prepare takes one argument, and is given "70GB", too. See umaprobe prepare --help.'],
  [
    'cache reclaim',
    'An argument is missing: umaprobe cache reclaim <size> [options]. See umaprobe cache reclaim --help.',
  ],
  [
    'cache reclaim 8',
    'The size "8" has no unit: write 8GB (powers of 1000), 8GiB (powers of 1024) or 8B (bytes). See umaprobe cache reclaim --help.',
  ],
  ['cache drop --level 5', '--level "5" is not one of 1, 2, 3. See umaprobe cache drop --help.'],
  [
    'cache drop --level 1 --level 2',
    '--level takes one value, and is given "1" and "2". See umaprobe cache drop --help.',
  ],
  ['cache rule --level 4', '--level "4" is not one of 1, 2, 3. See umaprobe cache rule --help.'],
  ['cache rule --level 12', '--level "12" is not one of 1, 2, 3. See umaprobe cache rule --help.'],
  ['cache drop now', 'cache drop takes no argument, and is given "now". See umaprobe cache drop --help.'],
  ['cache evict', 'Name the files or folders to evict. See umaprobe cache evict --help.'],
  [
    'cache compact --gate-blocks many',
    '--gate-blocks "many" is not a whole number of at least 0. See umaprobe cache compact --help.',
  ],
  [
    'cache compact --gate-block 32',
    '--gate-block "32" has no unit: write 32GB (powers of 1000), 32GiB (powers of 1024) or 32B (bytes). See umaprobe cache compact --help.',
  ],
  ['cache status --top many', '--top "many" is not a whole number from 0 to 100000. See umaprobe cache status --help.'],
  ['layout', 'Parts are missing: give name=size, a JSON file, or --preset 13b. See umaprobe layout --help.'],
  ['layout weights', '"weights" is neither a part, such as weights=26GB, nor a file. See umaprobe layout --help.'],
  [
    'layout weights=26',
    'The part weights "26" has no unit: write 26GB (powers of 1000), 26GiB (powers of 1024) or 26B (bytes). See umaprobe layout --help.',
  ],
  [
    'layout weights=26G',
    'The part weights "26G" could mean two sizes: write 26GB (powers of 1000) or 26GiB (powers of 1024). See umaprobe layout --help.',
  ],
  ['layout =5GB', '"=5GB" is not a part, such as weights=26GB. See umaprobe layout --help.'],
  ['layout a=1GB a=2GB', 'The part "a" is given twice. See umaprobe layout --help.'],
  ['layout --preset 7b', '--preset "7b" is not a preset: there is 13b. See umaprobe layout --help.'],
  ['layout --preset 13b a=1GB', '--preset cannot be combined with "a=1GB". See umaprobe layout --help.'],
  ['layout nofile.json', 'the parts "nofile.json": there is no such file or folder (ENOENT 2)'],
  ['doctor --only presure', '--only "presure" matches no check. Did you mean pressure? See umaprobe doctor --help.'],
  [
    'doctor --only nothing.*',
    '--only "nothing.*" matches no check. umaprobe doctor --list shows the checks. See umaprobe doctor --help.',
  ],
  ['doctor --skip', '--skip needs a value: --skip <ids>. See umaprobe doctor --help.'],
  ['doctor --level 5', 'doctor has no option --level. See umaprobe doctor --help.'],
  ['sim show gb11', 'There is no simulated machine "gb11". Did you mean gb10?'],
  [
    'sim run gb10',
    'A program is missing after "--", such as umaprobe sim run gb10 -- free -g. See umaprobe sim run --help.',
  ],
  ['sim run gb10 free', 'Put "--" before the program: umaprobe sim run gb10 -- free. See umaprobe sim run --help.'],
  [
    'sim run gb10 free -g',
    'Put "--" before the program: umaprobe sim run gb10 -- free -g. See umaprobe sim run --help.',
  ],
  // What stands before the program is ours, and wrong there; what stands behind it may be the program's.
  [
    'launch --no-prepar vllm serve m --enforce-eager',
    'launch has no option --no-prepar. Did you mean --no-prepare? See umaprobe launch --help.',
  ],
  ['profile --no-such python train.py', 'profile has no option --no-such. See umaprobe profile --help.'],
  [
    'profile --no-recor python train.py',
    'profile has no option --no-recor. Did you mean --no-record? See umaprobe profile --help.',
  ],
  [
    'guard --quiet python train.py --flor 5',
    'Put "--" before the program: umaprobe guard --quiet -- python train.py --flor 5. See umaprobe guard --help.',
  ],
  [
    'sim run gb10 --json -- true',
    "sim run passes on the program's output; for JSON use --report <file>. See umaprobe sim run --help.",
  ],
  [
    'sim run gb10 --scale 0 -- true',
    '--scale "0" is not a number above 0 and up to 1000000. See umaprobe sim run --help.',
  ],
  [
    'sim run gb10 --scale fast -- true',
    '--scale "fast" is not a number above 0 and up to 1000000. See umaprobe sim run --help.',
  ],
  ['sim list --sim gb10', 'sim list reads no machine, so --sim does not apply. See umaprobe sim list --help.'],
  ['snapshot --sim gb01', 'There is no simulated machine "gb01". Did you mean gb10?'],
  ['snapshot --sim GB10', 'There is no simulated machine "GB10". Did you mean gb10?'],
  ['snapshot -- x', 'snapshot takes nothing after "--". See umaprobe snapshot --help.'],
  [
    'snapshot --memgetinfo always',
    '--memgetinfo "always" is not one of needed, child, auto, never. See umaprobe snapshot --help.',
  ],
  ['watch --interval 5', '--interval "5" has no unit: write 5ms, 5s, 5m or 5h. See umaprobe watch --help.'],
  ['watch --interval 5ms', '--interval "5ms" is outside 100ms to 1h. See umaprobe watch --help.'],
  ['watch --count 0', '--count "0" is not a whole number of at least 1. See umaprobe watch --help.'],
  ['watch --count -1', '--count "-1" is not a whole number of at least 1. See umaprobe watch --help.'],
];

it.each(MISTAKES)('umaprobe %s', async (typed, answer) => {
  expect(await mainInProcess(typed.split(' '))).toEqual({
    code: EXIT.usage,
    stdout: /--json( |$)/.test(typed)
      ? expect.stringContaining(JSON.stringify(answer.replace(/ See umaprobe .*/, '')))
      : '',
    stderr: `umaprobe: ${answer}\n`,
  });
});
