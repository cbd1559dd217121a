import { stripVTControlCharacters } from 'node:util';
import { fencedBlocks } from './docs-markdown.ts';
import type { Page } from './docs-pages.ts';

/** Commands of a page that a reader can paste, and what the page says they print. */
export interface CommandBlock {
  readonly page: string;
  readonly line: number;
  readonly text: string;
  /** The `text output` block that follows, if there is one. */
  readonly output?: string;
  /** Of commands that stay up (`sh background TEXT`): what they print when the reader may go on. */
  readonly ready?: string;
}

/** Commands for a terminal of their own. They run until the page is over. */
const BACKGROUND = /^sh background (\S.*)$/;

/** A line of its own that stands for any lines left out. */
const LEFT_OUT = '…';

/** The blocks tagged `sh` or `sh background`, without those tagged `sh no-run`. */
export function commandBlocks({ path, text }: Page): readonly CommandBlock[] {
  const blocks = fencedBlocks(text);
  return blocks.flatMap((block, at) => {
    const [, ready] = BACKGROUND.exec(block.info) ?? [];
    const command = { page: path, line: block.line, text: block.text };
    if (ready !== undefined) return [{ ...command, ready }];
    if (block.info !== 'sh') return [];
    const next = blocks[at + 1];
    return [next?.info === 'text output' ? { ...command, output: next.text } : command];
  });
}

/** Whether a page shows what was printed, apart from numbers (times, versions, ports), platform and width of gaps. */
export function isSameOutput(documented: string, printed: string): boolean {
  const parts = normalised(documented)
    .split('\n')
    .map((line) => (line === LEFT_OUT ? '(?:.*\n)*?' : `${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\n`));
  return new RegExp(`^${parts.join('')}$`).test(`${normalised(printed)}\n`);
}

const normalised = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/\b(linux|darwin)-(x64|arm64)\b/g, 'platform')
    .replace(/\d+(?:\.\d+)*/g, '0')
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .join('\n')
    .trim();
