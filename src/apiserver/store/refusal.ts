import { SlipwayError } from '../../base/errors.ts';

/** Where a store is damaged, as far as it is known. */
export interface Damage {
  readonly file: string;
  /** Offset of the damaged record in the file. */
  readonly byte?: number;
  /** What is wrong, as the middle of a sentence: `checksum mismatch in record 412 (revision 398)`. */
  readonly what: string;
  /** The last revision before the damage, all of which can be kept. */
  readonly goodRevision: number;
}

/** The store does not start, and nothing was changed (reliability P4, D11). The program ends with exit code 3. */
export class StoreDamaged extends SlipwayError {
  readonly damage: Damage;

  constructor(directory: string, damage: Damage) {
    const { file, byte, what, goodRevision } = damage;
    const place = byte === undefined ? file : `${file} at byte ${byte}`;
    const way =
      goodRevision > 0
        ? `To keep everything up to revision ${goodRevision} run:`
        : 'There is nothing before the damage to keep: restore a backup, choose another --data, or begin with an empty store:';
    const command = `slipway apiserver repair --data ${directory} --to-revision ${goodRevision} (a copy is kept)`;
    super('terminal', 'StoreDamaged', `store damaged: ${place}: ${what}. Nothing was changed. ${way} ${command}`);
    this.damage = damage;
  }
}

export interface FormatStamp {
  readonly release: string;
  readonly format: number;
}

/** The data was written by a later release in a format unknown here (D12); exit code 3. */
export class StoreTooNew extends SlipwayError {
  constructor(written: FormatStamp, own: FormatStamp) {
    super(
      'terminal',
      'StoreTooNew',
      `the data directory was written by Slipway ${written.release} (format ${written.format}); ` +
        `this is ${own.release} (format ${own.format}). Use ${written.release} or later`,
    );
  }
}

export interface StoreHolder {
  readonly pid: number;
  /** Local wall-clock time, `HH:MM`. */
  readonly since: string;
  /** `slipway up`, if it has said so. */
  readonly program: string | undefined;
}

/** Another process uses the directory (P8, D13); exit code 3. */
export class StoreInUse extends SlipwayError {
  constructor(directory: string, holder: StoreHolder | undefined) {
    const who = holder === undefined ? 'another process' : holderText(holder);
    super('terminal', 'StoreInUse', `${directory} is in use by ${who}. Stop it or choose another --data`);
  }
}

const holderText = ({ pid, since, program }: StoreHolder): string =>
  `process ${pid} (${program === undefined ? '' : `${program}, `}started ${since})`;

/** `repair` was asked for where it would only lose something. */
export class StoreNotDamaged extends SlipwayError {
  constructor(directory: string, revision: number) {
    super(
      'user',
      'StoreNotDamaged',
      `the store in ${directory} is not damaged, and everything up to its last revision ${revision} is there. Nothing was ` +
        'changed. An older state comes from a backup that is restored into another folder: docs/how-to/use-the-api-server.md',
    );
  }
}
