import { parseArgs } from 'node:util';
import { suggestion } from '../src/app/nearest.ts';

const OPTIONS = {
  list: { type: 'boolean' },
  require: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const USAGE = `Usage: npm run oracles -- [names…] [--list] [--require a,b]

Builds or installs the programs our tests compare against, and lists where each one is.

  names          only these; without names, all of them
  --list         only list, build nothing
  --require a,b  exit 1 when one of these is missing or unsupported afterwards
`;

export type OraclesRequest =
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly message: string }
  | {
      readonly kind: 'run';
      readonly names: readonly string[];
      readonly isListOnly: boolean;
      readonly required: readonly string[];
    };

/** What the command line asks for. Without names: all that are known, in their order. */
export function parseRequest(argv: readonly string[], known: readonly string[]): OraclesRequest {
  const unknownOption = argv
    .map((word) => /^--?([^=]+)/.exec(word)?.[1])
    .find((name) => name !== undefined && !isOption(name));
  if (unknownOption !== undefined) {
    return wrong(`unknown option --${unknownOption}${suggestion(unknownOption, Object.keys(OPTIONS), '--')}`);
  }
  const parsed = parse(argv);
  if (typeof parsed === 'string') return wrong(parsed);
  if (parsed.values.help === true) return { kind: 'help' };
  const required = (parsed.values.require ?? '').split(',').filter((name) => name !== '');
  const unknownName = [...parsed.positionals, ...required].find((name) => !known.includes(name));
  if (unknownName !== undefined) return wrong(`unknown oracle ${unknownName}${suggestion(unknownName, known)}`);
  const names =
    parsed.positionals.length === 0 ? known : known.filter((name) => parsed.positionals.includes(name));
  return { kind: 'run', names, isListOnly: parsed.values.list === true, required };
}

const isOption = (name: string): boolean => Object.hasOwn(OPTIONS, name) || name === 'h';

const wrong = (message: string): OraclesRequest => ({ kind: 'wrong', message });

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // A missing or unwanted value; the message names the option.
    return error instanceof Error ? error.message : String(error);
  }
}
