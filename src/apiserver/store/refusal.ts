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
    super(
      'terminal',
      'StoreDamaged',
      `store damaged: ${place}: ${what}. Nothing was changed. To keep everything up to revision ${goodRevision} run: ` +
        `slipway apiserver repair --data ${directory} --to-revision ${goodRevision} (a copy is kept)`,
    );
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
}

/** Another process uses the directory (P8, D13); exit code 3. */
export class StoreInUse extends SlipwayError {
  constructor(directory: string, holder: StoreHolder | undefined) {
    const who =
      holder === undefined
        ? 'another process'
        : `process ${holder.pid} (slipway apiserver, started ${holder.since})`;
    super('terminal', 'StoreInUse', `${directory} is in use by ${who}. Stop it or choose another --data`);
  }
}
