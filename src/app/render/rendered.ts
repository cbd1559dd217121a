import type { KubeObject } from '../../api/object.ts';

/** One file that is written, or part of one stream. */
export interface RenderedFile {
  /** Relative, with slashes. */
  readonly path: string;
  /** What it holds for a cluster; none in files for people and other programs. */
  readonly objects: readonly KubeObject[];
  /** Without the line that says who wrote it. */
  readonly text: string;
}

/** A file that is for a program as it is; only in a folder, never in a stream. */
export interface PlainFile {
  readonly path: string;
  readonly content: string | Uint8Array;
  readonly isSecret: boolean;
}

/** What a definition comes to. */
export interface Rendered {
  readonly files: readonly RenderedFile[];
  readonly plain?: readonly PlainFile[];
  /** Made even when nothing is in them; those of plain files are among them. */
  readonly folders?: readonly string[];
  /** What is missing, and why. */
  readonly hints: readonly string[];
  /** Everything that it was made from, as JSON. */
  readonly input: unknown;
}
