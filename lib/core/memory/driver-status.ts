/**
 * The meaning of a status of CUDA or NVML for the machine: cause and remedy. The verdict, doctor and the preflight of a
 * probe read this table. Sources: the comments of cuda.h and nvml.h, NVIDIA's Xid catalogue, and the reports named in
 * the rows.
 */

import type { Failure } from '../../base/errors.ts';
import { capitalized } from '../../base/format.ts';
import type { CallFailure, MemoryModel } from '../../types/index.ts';
import { DROP_PAGE_CACHE } from './remedies.ts';

export interface StatusMeaning {
  /** The cause, as a clause: "the GPU has fallen off the bus". */
  cause: string;
  /** The remedy, as a clause. */
  remedy: string;
  /** Text about a GPU that works again only after a reset or a reboot. */
  gone?: 'is lost' | 'must be reset';
}

const READ_LOG = 'look for Xid and NVRM lines in the kernel log (sudo dmesg)';
const RIGHTS =
  'check the rights of /dev/nvidia* (umaprobe doctor --only permissions); in a container: start it again with --gpus all';
const REBOOT_AFTER_LOG = `${READ_LOG}, then reboot`;
const RESET = `${READ_LOG}, stop the programs on this GPU and reset it (sudo nvidia-smi --gpu-reset -i <its index>), or reboot`;
const REBOOT_AFTER_UPDATE: StatusMeaning = {
  cause:
    "the driver's libraries and the loaded kernel module have different versions, as after an update without a reboot",
  remedy: 'reboot this machine',
};
const CONTEXT_ENDED: StatusMeaning = {
  cause: 'a fault on the GPU has ended the CUDA context of the process',
  remedy: `restart the program; if a new one fails too, ${READ_LOG}, then reboot`,
};
const MPS: StatusMeaning = {
  cause: 'the MPS server does not accept this process',
  remedy: 'restart it (echo quit | nvidia-cuda-mps-control), or do without it',
};

type StatusTable = Readonly<Record<number, StatusMeaning>>;

/** CUresult; cudaError_t has the same numbers for these. */
const CUDA: StatusTable = {
  2: { cause: 'the driver found no memory for it', remedy: 'stop a program that holds memory of this GPU' },
  3: { cause: 'the driver could not be initialized', remedy: REBOOT_AFTER_LOG },
  34: {
    cause: 'the libcuda.so.1 that was found is the stub of the CUDA toolkit and not the driver',
    remedy: "take the toolkit's stubs folder out of LD_LIBRARY_PATH; in a container: start it with --gpus all",
  },
  35: {
    cause: 'the driver is missing, or older than the CUDA runtime needs',
    remedy:
      'install or update the NVIDIA driver, or use an older CUDA runtime; in a container: start it with --gpus all',
  },
  36: {
    cause: 'the driver is older than the CUDA runtime needs',
    remedy: 'update the NVIDIA driver, or use an older CUDA runtime',
  },
  // Driver 615.16 with CUDA 13.4 on a GB10: cudaMemGetInfo fails with "devices busy or unavailable" while the
  // attributes read well (llama.cpp #24933, PR 25384). Elsewhere: an exclusive or prohibited compute mode, or MPS.
  46: {
    cause:
      'the GPU is busy or unavailable: a program holds it exclusively, or this driver cannot create a context at all',
    remedy: `see its compute mode and who uses it (nvidia-smi -q -d COMPUTE,PIDS); if nobody does, ${READ_LOG}, reboot, and try another driver version (615.16 is reported to answer this)`,
  },
  100: {
    cause: 'the driver sees no GPU',
    remedy: `check that CUDA_VISIBLE_DEVICES is not set and that lspci lists the GPU, and ${READ_LOG}; in a container: start it with --gpus all`,
  },
  101: { cause: 'the driver refuses the GPU as invalid', remedy: REBOOT_AFTER_LOG },
  102: { cause: 'the GPU has no vGPU license', remedy: 'check the license: nvidia-smi -q | grep -i license' },
  214: { gone: 'must be reset', cause: 'its memory has an uncorrectable error (ECC)', remedy: RESET },
  220: { gone: 'must be reset', cause: 'its NVLink has an uncorrectable error', remedy: RESET },
  304: {
    cause: 'the operating system refused a call of the driver',
    remedy: `check the limits of this process (ulimit -a: open files, locked memory) and the rights of /dev/nvidia*, and ${READ_LOG}`,
  },
  700: CONTEXT_ENDED,
  709: CONTEXT_ENDED,
  719: CONTEXT_ENDED,
  800: { cause: 'this user may not use the GPU', remedy: RIGHTS },
  802: {
    cause: 'the system is not ready: where GPUs are joined by NVSwitch, the fabric manager is not running',
    remedy: `start it (sudo systemctl start nvidia-fabricmanager), or ${READ_LOG}`,
  },
  803: REBOOT_AFTER_UPDATE,
  804: {
    cause: 'a CUDA compatibility package is in use that does not support this GPU',
    remedy: 'take the folder of cuda-compat out of LD_LIBRARY_PATH, or update the driver',
  },
  805: MPS,
  806: MPS,
  807: MPS,
  808: MPS,
  809: MPS,
  // cuInit answers it when nvidia_uvm is not loaded, after a suspend, and when a GPU has fallen off the bus.
  999: {
    cause: 'the driver gives no reason: a GPU may be lost, or the module nvidia_uvm may not be loaded',
    remedy: `${READ_LOG}; run sudo modprobe nvidia-uvm, and reboot if that does not help`,
  },
};

/** nvmlReturn_t. */
const NVML: StatusTable = {
  4: { cause: 'this user has no permission', remedy: RIGHTS },
  8: { cause: 'the power cables of the GPU are not connected properly', remedy: 'connect them' },
  9: {
    cause: 'the kernel module of the driver is not loaded',
    remedy:
      'load it: sudo modprobe nvidia; if that fails, install the driver again for this kernel; in a container: start it with --gpus all',
  },
  11: { cause: 'the kernel has a problem with the interrupt of the GPU', remedy: REBOOT_AFTER_LOG },
  12: {
    cause: 'a library of the driver that NVML needs is missing',
    remedy: 'install the NVIDIA driver again; in a container: set NVIDIA_DRIVER_CAPABILITIES=all',
  },
  14: { cause: 'the infoROM of the GPU is corrupted', remedy: REBOOT_AFTER_LOG },
  15: {
    gone: 'is lost',
    cause: 'it has fallen off the bus, or it no longer answers',
    remedy: `${READ_LOG}; it comes back only with a reboot or a power cycle`,
  },
  16: { gone: 'must be reset', cause: 'an error has stopped it', remedy: RESET },
  17: {
    cause: 'the operating system or a cgroup refuses access to the GPU',
    remedy: RIGHTS,
  },
  18: REBOOT_AFTER_UPDATE,
  19: { cause: 'another program uses the GPU exclusively', remedy: 'see which: nvidia-smi -q -d PIDS' },
  20: { cause: 'there is no memory for it', remedy: 'stop a program before you start another' },
  27: {
    cause: 'the system is not ready',
    remedy: `check sudo systemctl status nvidia-fabricmanager where GPUs are joined by NVSwitch; ${READ_LOG}`,
  },
  // A lost GPU ("Unable to determine the device handle …: Unknown Error", dcgm-exporter #604), or a container whose
  // devices a reload of systemd has taken away (nvidia-container-toolkit #251).
  999: {
    cause: 'the driver gives no reason: the GPU may be lost, or this container may have lost its access',
    remedy: `${READ_LOG}, then reboot; in a container: restart it`,
  },
};

/** A function without which nothing can be read is missing: a library of another vendor, a shim, or a very old one. */
const INCOMPLETE: StatusMeaning = {
  cause: 'the library lacks a function that every version of the driver has had for years',
  remedy: 'install the NVIDIA driver again, and see which library was opened: umaprobe snapshot --json',
};

/** @param model of the device that the call was for; null: the call was for the whole machine. */
export function meaningOf(
  failure: Pick<CallFailure, 'library' | 'name' | 'status'>,
  model: MemoryModel | null = null,
): StatusMeaning {
  const { library, name, status } = failure;
  const row = status === null ? undefined : (library === 'cuda' ? CUDA : NVML)[status];
  if (name === 'SYMBOL_MISSING') return INCOMPLETE;
  if (row === undefined) return { cause: `the driver gives ${name} as its reason`, remedy: READ_LOG };
  // CUDA_ERROR_OUT_OF_MEMORY with tens of GiB available: a context needs pages that are free at once (xr-ai PR 440).
  if (library === 'cuda' && status === 2 && model === 'unified') {
    return { ...row, remedy: `free pages for it: ${DROP_PAGE_CACHE}; if that does not help, stop a program` };
  }
  return row;
}

/** The failure of a call that creates a context, with cause and remedy as its message. */
export function explained(failure: Failure, model: MemoryModel): Failure {
  if (failure.source === 'umaprobe') return failure;
  const { cause, remedy } = meaningOf({ ...failure, library: 'cuda' }, model);
  return { ...failure, message: `no CUDA context can be created, because ${cause}. ${capitalized(remedy)}` };
}

/** "cudaMemGetInfo answered cudaErrorDevicesUnavailable, 46": the evidence of a sentence, to put in brackets. */
export function answerText({ call, name, status }: Pick<CallFailure, 'call' | 'name' | 'status'>): string {
  return status === null ? `${call}: ${name}` : `${call} answered ${name}, ${status}`;
}
