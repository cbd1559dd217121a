import type { Health } from '../../api/journey.ts';
import { printable } from '../../app/journey/plain-text.ts';

/** What a span of text means; how that looks is decided where it is written. */
export type Tone = 'plain' | 'strong' | 'quiet' | 'good' | 'busy' | 'warning' | 'bad';

/** The characters a view is drawn with (experience X6). */
export interface Glyphs {
  readonly health: Readonly<Record<Health, string>>;
  /** Frames of the symbol of the phase at work. */
  readonly spinner: readonly string[];
  /** Behind what is only recorded or simulated here. */
  readonly simulated: string;
  readonly ellipsis: string;
  readonly dot: string;
  readonly arrow: string;
  readonly rule: string;
  readonly bar: { readonly full: string; readonly empty: string };
  readonly tree: { readonly fork: string; readonly last: string; readonly pipe: string; readonly gap: string };
  /** Text from outside, made of characters that can be shown. */
  readonly text: (text: string) => string;
}

export const UNICODE: Glyphs = {
  health: { done: '✔', working: '◐', waiting: '○', attention: '▲', failed: '✖', skipped: '–' },
  spinner: ['◐', '◓', '◑', '◒'],
  simulated: '~',
  ellipsis: '…',
  dot: '·',
  arrow: '➜',
  rule: '─',
  bar: { full: '█', empty: '░' },
  tree: { fork: '├─ ', last: '└─ ', pipe: '│  ', gap: '   ' },
  text: printable,
};

export const ASCII: Glyphs = {
  health: {
    done: '[ok]',
    working: '[..]',
    waiting: '[  ]',
    attention: '[!!]',
    failed: '[FAIL]',
    skipped: '[--]',
  },
  spinner: ['[..]'],
  simulated: ' (sim)',
  ellipsis: '...',
  dot: '-',
  arrow: '->',
  rule: '-',
  bar: { full: '#', empty: '.' },
  tree: { fork: '|- ', last: '`- ', pipe: '|  ', gap: '   ' },
  text: (text) => asciiOnly(printable(text)),
};

/** Punctuation of our own sentences; letters lose their accents, the rest becomes a question mark. */
const ASCII_FOR: Readonly<Record<string, string>> = {
  '·': '-',
  '–': '-',
  '—': '-',
  '→': '->',
  '➜': '->',
  '…': '...',
  '×': 'x',
  '≤': '<=',
  '│': '|',
  '✔': '[ok]',
  '✖': '[FAIL]',
  '▲': '[!!]',
};

const asciiOnly = (text: string): string =>
  text
    .split(' ')
    .map((word) => (PATH.test(word) ? word : asciiWord(word)))
    .join(' ');

/** In a sentence, too, a path or an address stays what it is: another one would not be found. */
const PATH = /\w\/|\/\w/;

const asciiWord = (word: string): string =>
  word
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/gu, (character) => ASCII_FOR[character] ?? '?');

export const HEALTH_WORDS: Readonly<Record<Health, string>> = {
  done: 'done',
  working: 'working',
  waiting: 'waiting',
  attention: 'attention',
  failed: 'failed',
  skipped: 'skipped',
};

export const HEALTH_TONES: Readonly<Record<Health, Tone>> = {
  done: 'good',
  working: 'busy',
  waiting: 'quiet',
  attention: 'warning',
  failed: 'bad',
  skipped: 'quiet',
};
