/** Documents that the program alone prints with `--json`: no function returns them. */

import type { FindingId } from './findings.ts';
import type { Natural } from './scalars.ts';

/** Reason for a command's failure. It goes to stdout with `--json`; the text for people goes to stderr. */
export interface ErrorDocument {
  schema: 'umaprobe/error/1';
  error: {
    /** Stable: ERR_USAGE, ERR_INVALID_ARG_*, ERR_UMA_*, or a system code such as ENOENT. */
    code: string;
    message: string;
    /** Exit code of the command (docs/errors.md): the number that the shell is given. */
    exitCode: Natural;
    /** The native call that failed, if there was one. */
    source: string | null;
    call: string | null;
    /** Status number of that call, as CUDA, NVML or the kernel returned it; null: it has none. */
    status: number | null;
    nativeName: string | null;
    /** The underlying error, where the message leaves it out for length. */
    detail: string | null;
  };
}

/** The checks of `umaprobe doctor`, in the order of its report. */
export interface DoctorList {
  schema: 'umaprobe/doctor-list/1';
  checks: { id: FindingId; title: string }[];
}

/** Output of `umaprobe version`; Node's version, platform and processor are those of `process`. */
export interface VersionDocument {
  schema: 'umaprobe/version/1';
  version: string;
  node: string;
  platform: string;
  arch: string;
}
