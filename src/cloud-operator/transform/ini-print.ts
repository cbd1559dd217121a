import { Buffer } from 'node:buffer';

/** A section as it is printed; without a header it is what stands before all sections. */
export interface PrintedSection {
  readonly comments?: readonly string[];
  readonly header?: string;
  readonly lines: readonly PrintedKey[];
}

export interface PrintedKey {
  readonly comments?: readonly string[];
  /** As it is written, with quotes where it needs them. */
  readonly key: string;
  readonly value: string;
  /** Of the key, if it counts as longer than it is. */
  readonly width?: number;
}

const size = (text: string): number => Buffer.byteLength(text);

/** Values of a section below each other, a blank line between two sections. Columns count bytes, as upstream counts. */
export const printIni = (sections: readonly PrintedSection[]): string => sections.map(sectionText).join('\n');

function sectionText({ comments = [], header, lines }: PrintedSection): string {
  const width = Math.max(0, ...lines.map(({ key, width: wanted = size(key) }) => wanted));
  const rows = lines.flatMap(({ comments: above = [], key, value }) => [
    ...above,
    `${key}${' '.repeat(width - size(key))} = ${value}`,
  ]);
  const head = header === undefined ? [] : [`[${header}]`];
  return [...comments, ...head, ...rows].map((row) => `${row}\n`).join('');
}
