import type { ChildJournal } from './child-journal.ts';
import type { ProcessTable } from './process-table.ts';
import type { Warden } from './warden.ts';

export interface ChildRegisterOptions {
  readonly identity: string;
  readonly table: ProcessTable;
  readonly journal: ChildJournal;
  readonly warden: Warden;
}

/** Disposing it tells that the child is gone. */
export interface Registration extends Disposable {
  /** Resolves when everybody knows of the child. */
  readonly written: Promise<void>;
}

/** Tells those who must know of every child: the warden for this life, the journal for the next. */
export class ChildRegister {
  readonly #options: ChildRegisterOptions;

  constructor(options: ChildRegisterOptions) {
    this.#options = options;
  }

  /** A container; to be called in the turn of its start, before it can be reaped. */
  addContainer(pid: number, container: string): Registration {
    const { journal } = this.#options;
    const program = this.addProgram(pid);
    const entry = this.#entry(pid, container);
    const written = entry.then((known) => journal.add(known));
    // Nobody waits for it when the start fails.
    written.catch(() => {});
    return {
      written,
      [Symbol.dispose]: () => {
        program[Symbol.dispose]();
        void entry.then((known) => journal.delete(known)).catch(() => {});
      },
    };
  }

  /** A program beside a container. The next life finds it by its environment, as all that the container started. */
  addProgram(pid: number): Registration {
    const { warden } = this.#options;
    warden.add(pid);
    return { written: Promise.resolve(), [Symbol.dispose]: () => warden.delete(pid) };
  }

  async #entry(pid: number, container: string) {
    const { identity, table } = this.#options;
    const startTime = (await table.startTimeOf(pid)) ?? '';
    return { pgid: pid, startTime, bootId: table.bootId, container, lab: identity };
  }
}
