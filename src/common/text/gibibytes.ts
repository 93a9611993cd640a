/** Bytes in words, such as "1.5 GiB". */
export const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
