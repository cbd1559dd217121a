import type { Output } from '../app/verb.ts';

/** Where text goes; the process's own streams, or a test's. */
export interface Streams {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

export interface OutputOptions {
  /** `exact`: text that programs read, in which no character is replaced. */
  readonly format: 'text' | 'json' | 'exact';
  readonly streams: Streams;
  readonly show: Output['show'];
  /** Text in characters that the terminal can show. */
  readonly drawable: (text: string) => string;
}

/** The result on stdout in the form that was asked for, everything else on stderr (experience X1). */
export function createOutput({ format, streams, show, drawable }: OutputOptions): Output {
  return {
    result: (text, json, shape = 'document') => {
      const indent = shape === 'line' ? 0 : 2;
      const told = format === 'json' ? JSON.stringify(json, null, indent) : text;
      streams.stdout(`${format === 'text' ? drawable(told) : told}\n`);
    },
    hint: (text) => streams.stderr(`${drawable(text)}\n`),
    show,
  };
}
