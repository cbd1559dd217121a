/** Work on one key, one after the other. Keys are forgotten when nothing is left to do for them. */
export class KeyedTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(act);
    const last = turn.catch(() => undefined);
    this.#last.set(key, last);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === last) this.#last.delete(key);
    }
  }
}
