export const gib = (bytes) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
