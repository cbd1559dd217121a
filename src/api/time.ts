const MICROSECONDS = 1000;

/** RFC 3339 with seconds, as `Time` of Kubernetes is written (K9). Fractions are cut off, as the server does. */
export const time = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

/**
 * RFC 3339 with exactly six digits of a second, as `MicroTime` is written: the server refuses Leases and Events with any
 * other number of them (K9). A Date knows milliseconds; `micros` (0 to 999) are what it does not know.
 */
export function microTime(date: Date, micros = 0): string {
  if (!Number.isInteger(micros) || micros < 0 || micros >= MICROSECONDS) {
    throw new RangeError(`micros is ${micros}; allowed are whole numbers from 0 to 999`);
  }
  return `${date.toISOString().slice(0, 23)}${String(micros).padStart(3, '0')}Z`;
}
