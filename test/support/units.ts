export const MiB = 2 ** 20;
export const GiB = 2 ** 30;
export const GB = 1e9;
