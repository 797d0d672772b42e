/** The kinds of memory. To add one: a row here and a row in native/alloc/kinds.cc; docs/architecture.md has the recipe. */

interface KindFacts {
  /**
   * All pages are there once it is allocated; on a device that shares the host's memory they are pinned blocks of 2 MiB
   * (order 9 of nv_alloc_system_pages). Otherwise each page comes with its first touch.
   */
  readonly eager: boolean;
  /** Where it lies on a device that has memory of its own. `either`: on the device, and evicted to the host when it is full. */
  readonly place: 'device' | 'either' | 'host';
}

/** Every kind, in the order in which they are shown. */
export const ALLOCATOR_KINDS = {
  /** cudaMalloc. */
  device: { eager: true, place: 'device' },
  /** cudaMallocManaged. */
  managed: { eager: false, place: 'either' },
  /** cudaHostAlloc, mapped into the device. */
  pinned: { eager: true, place: 'host' },
  /** mmap, touched by the GPU through the host's page tables. */
  system: { eager: false, place: 'host' },
} as const satisfies Readonly<Record<string, KindFacts>>;

/**
 * How memory is allocated. `device`: cudaMalloc. `managed`: cudaMallocManaged. `pinned`: cudaHostAlloc, mapped into the
 * device. `system`: mmap, touched by the GPU through the host's page tables. Where no CUDA runtime is installed the
 * driver's functions of the same meaning are called; each report says which (`calls`).
 */
export type AllocatorKind = keyof typeof ALLOCATOR_KINDS;
