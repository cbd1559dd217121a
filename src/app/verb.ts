import type { Clock } from '../base/clock.ts';
import { resolveSettings, type SettingSources } from './config.ts';
import type { ClusterBoard } from './describe/board.ts';
import type { Journey } from './journey/journey.ts';
import type { SettingTable, SettingValues } from './settings.ts';

/** 0 ok, 1 found problems, 2 wrong usage, 3 environment, 130 interrupted before the job was done (DESIGN §9). */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

/** How a verb speaks. The result goes to stdout, everything else to stderr (experience X1). */
export interface Output {
  /**
   * The one result: `text` for people, `json` for programs; only the asked-for form is printed. From a verb that stays up
   * it is one line of JSON, because whoever waits for it reads lines and no end comes.
   */
  result(text: string, json: unknown, shape?: 'document' | 'line'): void;
  /** Progress or advice; never mixed into the result. */
  hint(text: string): void;
  /** Shows a journey while it runs, or a cluster each time there is a picture of it; disposal restores the terminal. */
  show(shown: Journey | ClusterBoard): Disposable;
}

export interface VerbContext {
  readonly output: Output;
  readonly clock: Clock;
  /** Aborts when the user or the system asks us to stop. */
  readonly signal: AbortSignal;
  /** The folder the user is in. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Something after the verb that is not a flag. */
export interface Positional {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
}

/** The tasks by which `slipway` alone lists its verbs. */
export type VerbGroup = 'start here' | 'when something is wrong';

/** One subcommand. Everything the terminal, the help and the reference page know about it comes from here. */
export interface Verb {
  readonly name: string;
  readonly group: VerbGroup;
  readonly summary: string;
  /** Two command lines that work as they stand (experience X12). */
  readonly examples: readonly [string, string];
  readonly positionals?: readonly Positional[];
  /** Everything after the first word that is no flag, flags and requests for help too, is for that word, as it stands. */
  readonly passesOn?: boolean;
  readonly settings: SettingTable;
  run(context: VerbContext, sources: SettingSources, positionals: readonly string[]): Promise<ExitCode>;
}

export interface VerbDefinition<Table extends SettingTable> extends Omit<Verb, 'run' | 'settings'> {
  readonly settings: Table;
  /** Called only when the verb runs, so that `--help` stays fast. */
  readonly load: () => Promise<VerbRun<Table>>;
}

export type VerbRun<Table extends SettingTable> = (
  context: VerbContext,
  settings: SettingValues<Table>,
  positionals: readonly string[],
) => Promise<ExitCode>;

/** Ties the code of a verb to the types of its own settings; outside, all verbs look alike. */
export function defineVerb<Table extends SettingTable>({ load, ...definition }: VerbDefinition<Table>): Verb {
  return {
    ...definition,
    run: async (context, sources, positionals) => {
      const settings = resolveSettings(definition.settings, sources);
      const run = await load();
      return run(context, settings, positionals);
    },
  };
}
