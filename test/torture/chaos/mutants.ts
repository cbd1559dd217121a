/** Mistakes that a run must find; each is planted by the program of the run, never in the product. */
export const MUTANTS = [
  /** The thing outside is made before the finalizer is there, and removed after it is gone. */
  'finalizer-order',
  /** The thing outside gets another name with each try. */
  'random-token',
  /** Of five events one does not reach the cache. Fewer are found by luck: the next event of the object, or list, heals it. */
  'dropped-events',
  /** Of eight objects one is never made ready, whatever happens to it. A key lost once is found by luck: the next event brings it back. */
  'lost-keys',
  /** A reconcile returns before its work is done. */
  'floating-work',
  /** Each reconcile leaves something behind. */
  'leak',
] as const;

export type Mutant = (typeof MUTANTS)[number];
