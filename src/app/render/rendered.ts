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

/** What a definition comes to. */
export interface Rendered {
  readonly files: readonly RenderedFile[];
  /** What is missing, and why. */
  readonly hints: readonly string[];
  /** Everything that it was made from, as JSON. */
  readonly input: unknown;
}
