/**
 * The kinds of memory. To add one: a row here and a row in native/alloc/kinds.cc; test/recipes/README.md has the recipe.
 */

interface KindFacts {
  /**
   * The allocation itself provides all pages; on a device that shares the host's memory they are pinned blocks of 2 MiB
   * (order 9 of nv_alloc_system_pages). Otherwise the first touch of each page provides it.
   */
  readonly eager: boolean;
  /** Location on a device with its own memory. `either`: on the device, evicted to the host when the device is full. */
  readonly place: 'device' | 'either' | 'host';
}

/** Every kind, in display order. */
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
 * Ways to allocate memory. `device`: cudaMalloc. `managed`: cudaMallocManaged. `pinned`: cudaHostAlloc, mapped into the
 * device. `system`: mmap, touched by the GPU through the host's page tables. The equivalent driver functions are called
 * if there is no CUDA runtime library; each report names the function (`kinds[].call`).
 */
export type AllocatorKind = keyof typeof ALLOCATOR_KINDS;
