import type { InProcessProgram } from './in-process-program.ts';

/** A program that stands for an image: what runs when a container names it (N11). */
export interface CatalogueImage {
  /** ENTRYPOINT and CMD in one: program and arguments on this machine. `node` is the Node of the lab. */
  readonly argv: readonly string[];
  /** How much of `argv` is the entrypoint, which `command` replaces; the rest is CMD, which `args` replaces. 1 unless told otherwise. */
  readonly entrypoint?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  /** Numeric; 0 unless told otherwise: `runAsNonRoot` is checked against it (P11). */
  readonly user?: number;
  /** Absolute paths inside the image, such as `/bin/csi-driver`, to programs of this machine. */
  readonly programs?: Readonly<Record<string, string>>;
  /** Not a Node program: no preload, so `bind` says how it is told its address; only with real time (X8, T7). */
  readonly foreign?: boolean;
  /** Appended to the arguments; `{{wire}}` is the pod's address on this machine. */
  readonly bind?: readonly string[];
  /** `namespace`: the program reads fixed paths and cannot run with rewritten ones (P10). */
  readonly needs?: readonly 'namespace'[];
  /** The same program as a function, for labs whose `inProcess` names the image. */
  readonly run?: InProcessProgram;
}

/** By reference: with a tag or digest for just that one, without for all of them. */
export type ImageCatalogue = Readonly<Record<string, CatalogueImage>>;
